// Part of the store contract: key and rate are checked before a long body is read, without taking a slot.
import { answered } from '../../domain/store-unavailable.ts';
import type { CallerCheck, CheckedCaller } from '../../ports/ledger.ts';
import { expect } from '../expect.ts';
import { newId, teamUnderTest, TOUCH, withoutPromise } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const GOOD = { kind: 'admitted', reservation: undefined } as const;

export function checkContract(it: AddStoreCase, subject: Subject): void {
  const check = async ({ teamId, keyId }: TeamUnderTest, choices: Partial<CallerCheck> = {}): Promise<CheckedCaller> =>
    withoutPromise(await subject.store.ledger.check({ requestId: newId(), teamId, keyId, ...choices }));

  it.team('it takes no slot, however often it is called', { requestsPerSecond: 2 }, async (team) => {
    for (let i = 0; i < 5; i++) expect(await check(team)).toEqual(GOOD);
    await team.touch();
    for (let i = 0; i < 5; i++) expect(await check(team)).toEqual(GOOD);
    expect((await team.touch()).kind).toBe('admitted');
    expect(await check(team)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1000 });
    subject.clock.step(999);
    expect(await check(team)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1 });
    subject.clock.step(1);
    expect(await check(team)).toEqual(GOOD);
    expect(await team.kinds(TOUCH, TOUCH)).toEqual(['admitted', 'admitted']);
  });

  it.team('it frees no slot: after the clock steps back, expired slots count again', { requestsPerSecond: 1 }, async (team) => {
    await team.touch();
    subject.clock.step(1001);
    expect(await check(team)).toEqual(GOOD);
    subject.clock.step(-3_600_000);
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 1000 });
    subject.clock.step(1000);
    expect((await team.touch()).kind).toBe('admitted');
  });

  it.team('it reserves nothing, and its id may be admitted afterwards', { characterLimit: 10 }, async (team) => {
    const requestId = newId();
    expect(await check(team, { requestId })).toEqual(GOOD);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect(await team.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 10 } });
  });

  it.team('a known id makes no difference', { requestsPerSecond: 2 }, async (team) => {
    const { requestId } = await team.reserve(10);
    expect(await check(team, { requestId })).toEqual(GOOD);
    await team.commit(requestId);
    expect(await check(team, { requestId })).toEqual(GOOD);
    await team.touch();
    expect(await check(team, { requestId })).toMatchObject({ kind: 'rate_limited', limit: 2 });
  });

  it('an unknown team, an unknown key, another team’s key and a revoked key are reported before the rate', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    const other = await teamUnderTest(subject.store);
    await team.touch();
    expect(await check(team, { teamId: newId() })).toEqual({ kind: 'key_unknown' });
    expect(await check(team, { keyId: newId() })).toEqual({ kind: 'key_unknown' });
    expect(await check(team, { keyId: other.keyId })).toEqual({ kind: 'key_unknown' });
    await team.revoke();
    expect(await check(team)).toEqual({ kind: 'key_revoked' });
  });

  it('the last use is stamped, even if the rate is exceeded, but never for a revoked key', async ({ store, clock }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 1 });
    const lastUse = async () => answered(await store.teams.listKeys(team.teamId))?.[0]?.lastUsedAtMs;
    await check(team);
    expect(await lastUse()).toBe(clock.nowMs());
    await team.touch();
    clock.step(7);
    expect((await check(team)).kind).toBe('rate_limited');
    const usedAtMs = clock.nowMs();
    expect(await lastUse()).toBe(usedAtMs);
    await team.revoke();
    clock.step(7);
    await check(team);
    expect(await lastUse()).toBe(usedAtMs);
  });

  it.team('concurrent checks and admissions are processed in order', { requestsPerSecond: 2 }, async (team) => {
    const answers = await Promise.all([check(team), team.touch(), check(team), team.touch(), check(team), team.touch()]);
    expect(answers.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'admitted', 'admitted', 'rate_limited', 'rate_limited']);
  });
}
