// Whoever can have limits, for the cases that are the same for each: a team, a key of it, a tag of its requests, its test keys; and what
// is like a limit, prepaid credit.
import type { WindowUse } from '../../domain/window-limits.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import type { TagSettings } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { KeyChange, KeyRecord, KeyUsage } from '../../ports/team-registry.ts';
import { freshKey, limitsIn, PREPAID, present, teamUnderTest } from './team-under-test.ts';
import type { Subject, TeamUnderTest, Terms } from './team-under-test.ts';

/** A key, in a team that has another one without limits. */
interface KeyUnderTest extends TeamUnderTest {
  readonly team: TeamUnderTest;
  readonly change: (change: KeyChange) => Promise<KeyRecord>;
  readonly record: () => Promise<KeyUsage>;
}

/** Creates the key, in a team of its own or in `of`. */
export async function keyUnderTest(subject: Subject, limits: KeyLimits, of?: TeamUnderTest): Promise<KeyUnderTest> {
  const { teams } = subject.store;
  const team = of ?? (await teamUnderTest(subject.store));
  const { keyId } = present(answered(await teams.createKey({ ...freshKey(team.teamId), limits })));
  const change = async (changed: KeyChange) => present(answered(await teams.updateKey(keyId, changed)));
  const setOwn = async (own: string): Promise<void> => {
    const none = { requestsPerSecond: null, characters: null, windows: null };
    await change({ limits: { ...none, ...limitsIn(own) } });
  };
  const record = async () => (await team.usage()).keys.find((one) => one.keyId === keyId)!;
  return { ...team.withKey(keyId), team, setOwn, change, record };
}

/** Tags of a team that may have settings. */
export const TAGS_MAX = 1000;
/** What a request carries that has this tag. */
export const tagged = (name: string, distinctMax = TAGS_MAX) => ({ tag: { name, distinctMax } });

/** Replaces all settings of a tag, and returns how that went. */
export async function setTag(
  { store }: Subject,
  { teamId }: TeamUnderTest,
  settings: Partial<TagSettings>,
  tag = 'acme',
  most = TAGS_MAX,
): Promise<string> {
  return answered(await store.tagSettings.set(teamId, tag, { disabled: false, ...settings }, most)).kind;
}

/** Admits in the name of the one with the limits. */
export interface LimitedUnderTest extends TeamUnderTest {
  /** What is used of its windows. */
  windowsUsed(): Promise<readonly WindowUse[]>;
}

interface LimitedKind {
  readonly name: string;
  /** What its refusals have, and those of the others do not. */
  readonly whose: { readonly of?: string };
  /** Without limits, in a team with these terms. */
  readonly make: (subject: Subject, terms: Terms) => Promise<LimitedUnderTest>;
}

const windowless = async (): Promise<readonly WindowUse[]> => [];

export const LIMITED: readonly LimitedKind[] = [
  {
    name: 'team',
    whose: {},
    async make({ store, again }, terms) {
      const team = await teamUnderTest(store, terms);
      return { ...team, windowsUsed: async () => present((await team.usage(again)).windows) };
    },
  },
  {
    name: 'key',
    whose: { of: 'key' },
    async make(subject, terms) {
      const key = await keyUnderTest(subject, {}, await teamUnderTest(subject.store, terms));
      return { ...key, windowsUsed: async () => present((await key.record()).windows) };
    },
  },
  {
    name: 'tag',
    whose: { of: 'tag' },
    async make(subject, terms) {
      const team = await teamUnderTest(subject.store, terms);
      return {
        ...team.with(tagged('acme')),
        setOwn: async (own) => void (await setTag(subject, team, limitsIn(own))),
        windowsUsed: async () => present(answered(await subject.again.tagSettings.find(team.teamId, 'acme'))).use.windows,
      };
    },
  },
];

/** What else limits characters: `characters=N/period` is the allowance of test keys, or what credit is there for. */
export const LIKE_LIMITED: readonly LimitedKind[] = [
  {
    name: 'test keys',
    whose: { of: 'test_keys' },
    async make({ store }, terms) {
      const team = await teamUnderTest(store, terms);
      const tests = team.withKey((await team.newKey('tests', 'test')).keyId);
      return { ...tests, setOwn: (own) => team.setLimits({ testAllowance: limitsIn(own).characters ?? 0 }), windowsUsed: windowless };
    },
  },
  {
    name: 'credit',
    whose: {},
    async make({ store }, terms) {
      const team = await teamUnderTest(store, { ...PREPAID, ...terms });
      let added = 0;
      const setOwn = async (own: string): Promise<void> => {
        const addMicro = PREPAID.minorPerMillion * (limitsIn(own).characters ?? 0) - added;
        added += addMicro;
        answered(await store.teams.updateTeam(team.teamId, { addMicro }));
      };
      return { ...team, setOwn, windowsUsed: windowless };
    },
  },
];
