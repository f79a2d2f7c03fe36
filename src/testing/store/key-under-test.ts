// A key with limits for the cases of a store contract, beside a key without.
import type { KeyLimits } from '../../domain/key-limits.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { KeyChange, KeyRecord, KeyUsage } from '../../ports/team-registry.ts';
import { expect } from '../expect.ts';
import { freshKey, present, teamUnderTest } from './team-under-test.ts';
import type { Subject, TeamUnderTest } from './team-under-test.ts';

/** A key with limits, in a team that has another key without. */
interface KeyUnderTest extends TeamUnderTest {
  readonly team: TeamUnderTest;
  readonly change: (change: KeyChange) => Promise<KeyRecord>;
  readonly record: () => Promise<KeyUsage>;
}

/** Creates the key, in a team of its own or in `of`. */
export async function keyUnderTest(subject: Subject, limits: KeyLimits, of?: TeamUnderTest): Promise<KeyUnderTest> {
  const team = of ?? (await teamUnderTest(subject.store));
  const { keyId } = present(answered(await subject.store.teams.createKey({ ...freshKey(team.teamId), limits })));
  const record = async () => (await team.usage()).keys.find((one) => one.keyId === keyId)!;
  return { ...team.withKey(keyId), team, change: (change) => changedKey(subject, keyId, change), record };
}

/** Changes a key that exists. */
export async function changedKey(subject: Subject, keyId: string, change: KeyChange): Promise<KeyRecord> {
  return present(answered(await subject.store.teams.updateKey(keyId, change)));
}

/** The rest of a refusal that must say that it is the key's own limit. */
export function ofKey<Result extends object>(result: Result): Result {
  const { of, ...rest } = result as Result & { readonly of?: unknown };
  expect(of).toBe('key');
  return rest as Result;
}
