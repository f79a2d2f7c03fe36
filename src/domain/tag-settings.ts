// Settings of a tag: limits for all requests of a team that carry it, whichever key they are sent with.
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
