// Tags of requests: the word under which a caller has one counted, such as a customer; its limits.
import { holdsKey } from './api-key.ts';
import type { KeyLimits } from './key-limits.ts';
import type { WindowUse } from './window-limits.ts';

/** The header of every metered route; facades have their vendor's own besides. */
export const TAG_FIELD = 'Lingate-Tag';
export const TAG_HEADER = 'lingate-tag';
/** What tags are counted under once a team has as many different ones as it may. */
export const FURTHER_TAGS = '*';
/** Same for every store: names are part of its records. */
export const TAG_CHARACTERS_MAX = 100;
/** What is wrong with a tag, after the name of its field. */
export const TAG_FAULT = `must be 1 to ${TAG_CHARACTERS_MAX} printable ASCII characters without spaces, and no API key`;

/** A request's tag, as the ledger is given it. */
export interface RequestTag {
  /** As `readTag` returns it. */
  readonly name: string;
  /** The team's different tags (`limits.tags`); further ones are counted as `FURTHER_TAGS`. */
  readonly distinctMax: number;
}

/** A tag as the caller sent it, and the name of its field. */
export interface NamedTag {
  readonly text: string;
  readonly field: string;
}

const TAG = /^[!-~]{1,100}$/;

/** In lower case, without surrounding spaces; `undefined` for none, `null` for what is no tag. */
export function readTag(text: string): string | undefined | null {
  // HTTP allows spaces and tabs around a value: another blank is a byte of the caller's.
  if (/[^\t -~]/.test(text)) return null;
  const tag = text.trim();
  if (tag === '') return undefined;
  return TAG.test(tag) && !holdsKey(tag) ? tag.toLowerCase() : null;
}

/** What is counted for a tag on a UTC day. */
export interface TagCount {
  readonly day: number;
  readonly characters: number;
  readonly requests: number;
}

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
