// Settings of a tag: limits for all requests of a team that carry it, whichever key they are sent with.
import { judgeLimits } from './given-key-limits.ts';
import type { LimitName } from './given-key-limits.ts';
import type { KeyLimits } from './key-limits.ts';
import type { WindowUse } from './window-limits.ts';

/** Limits are absent if the tag has no such limit; their bounds are those of a key's. */
export interface TagSettings extends Pick<KeyLimits, 'characters' | 'requestsPerSecond' | 'windows'> {
  /** Requests with the tag are refused. */
  readonly disabled: boolean;
}

/** What is used of a tag's settings, at the moment of reading. */
export interface TagUse {
  /** In the team's running period, including open reservations. */
  readonly characters: number;
  /** Of its limits by minute to month; empty without such limits. */
  readonly windows: readonly WindowUse[];
}

/** The limits of keys that tags can have as well, by their names in commands and the admin API, in display order. */
export const TAG_LIMIT_NAMES = {
  requests_per_second: 'requestsPerSecond',
  characters: 'characters',
  limits: 'windows',
} as const satisfies { readonly [Name in LimitName]?: keyof TagSettings };

export type TagLimitName = keyof typeof TAG_LIMIT_NAMES;

/** As JSON values. Members that are `undefined` are not set. */
type GivenTagSettings = { readonly [Name in TagLimitName | 'disabled']?: unknown };

/** A fault follows the name of the field or flag; `at` is the index of the list entry at fault. */
type JudgedTagSettings =
  | { readonly settings: TagSettings }
  | { readonly name: TagLimitName | 'disabled'; readonly fault: string; readonly at?: number };

/** Reports the first fault, in the order of `TAG_LIMIT_NAMES`. */
export function judgeTagSettings({ disabled = false, requests_per_second, characters, limits }: GivenTagSettings): JudgedTagSettings {
  // None of these depends on the time.
  const judged = judgeLimits({ requests_per_second, characters, limits }, 0);
  if ('fault' in judged) return { ...judged, name: judged.name as TagLimitName };
  if (typeof disabled !== 'boolean') return { name: 'disabled', fault: 'is neither true nor false' };
  return { settings: { disabled, ...judged.limits } };
}
