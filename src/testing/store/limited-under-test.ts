// Whoever can have limits, for the cases that are the same for each: a team, a key of it, a tag of its requests.
import type { TagSettings } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { WindowUse } from '../../domain/window-limits.ts';
import { keyUnderTest } from './key-under-test.ts';
import { GENEROUS_QUOTA, present, teamUnderTest } from './team-under-test.ts';
import type { Subject, TeamUnderTest, Terms } from './team-under-test.ts';

/** Tags of a team that may have settings. */
export const TAGS_MAX = 1000;
/** What a request carries that has this tag. */
export const tagged = (name: string, distinctMax = TAGS_MAX) => ({ tag: { name, distinctMax } });

export interface OwnLimits {
  readonly requestsPerSecond?: number;
  readonly characters?: number;
  readonly windows?: string;
}

/** Admits in the name of the one with the limits. */
export interface LimitedUnderTest extends TeamUnderTest {
  /** Changes these limits and keeps the others; `null` removes one. */
  change(limits: { readonly [Name in keyof OwnLimits]: OwnLimits[Name] | null }): Promise<void>;
  /** What is used of its windows. */
  windowsUsed(): Promise<readonly WindowUse[]>;
}

interface LimitedKind {
  readonly name: 'team' | 'key' | 'tag';
  /** What its refusals have, and those of the others do not. */
  readonly whose: { readonly of?: 'key' | 'tag' };
  /** In a team of its own, with these terms, or in `team`. */
  readonly make: (subject: Subject, limits: OwnLimits, team?: TeamUnderTest | Terms) => Promise<LimitedUnderTest>;
}

async function teamIn(subject: Subject, of: TeamUnderTest | Terms = {}): Promise<TeamUnderTest> {
  return 'teamId' in of ? of : teamUnderTest(subject.store, of);
}

function ofTeam({ requestsPerSecond, characters, windows }: { readonly [Name in keyof OwnLimits]: OwnLimits[Name] | null }): Terms {
  return {
    ...(requestsPerSecond !== undefined && { requestsPerSecond: requestsPerSecond ?? GENEROUS_QUOTA.requestsPerSecond }),
    ...(characters !== undefined && { characterLimit: characters ?? GENEROUS_QUOTA.characterLimit }),
    ...(windows !== undefined && { windows: windows ?? '' }),
  };
}

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

export const LIMITED: readonly LimitedKind[] = [
  {
    name: 'team',
    whose: {},
    async make(subject, limits, of) {
      const team = await teamIn(subject, of);
      await team.setLimits(ofTeam(limits));
      return {
        ...team,
        change: (changed) => team.setLimits(ofTeam(changed)),
        windowsUsed: async () => present((await team.usage(subject.again)).windows),
      };
    },
  },
  {
    name: 'key',
    whose: { of: 'key' },
    async make(subject, limits, of) {
      const key = await keyUnderTest(subject, limits, await teamIn(subject, of));
      return {
        ...key,
        change: async (changed) => void (await key.change({ limits: changed })),
        windowsUsed: async () => present((await key.record()).windows),
      };
    },
  },
  {
    name: 'tag',
    whose: { of: 'tag' },
    async make(subject, limits, of) {
      const team = await teamIn(subject, of);
      let held: OwnLimits = limits;
      await setTag(subject, team, held);
      return {
        ...team.with(tagged('acme')),
        async change(changed) {
          const all = Object.entries({ ...held, ...changed }).filter(([, value]) => value !== null);
          held = Object.fromEntries(all);
          await setTag(subject, team, held);
        },
        windowsUsed: async () => present(answered(await subject.again.tagSettings.find(team.teamId, 'acme'))).use.windows,
      };
    },
  },
];
