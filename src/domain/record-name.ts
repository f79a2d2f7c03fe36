// Text that operators enter: names and labels of teams and keys, and their own references, fit for a table row; and reasons for
// changes, which the audit keeps.
import { holdsKey } from './api-key.ts';
import { countCharacters } from './characters.ts';

export const RECORD_NAME_CHARACTERS_MAX = 100;
export const REFERENCE_CHARACTERS_MAX = 64;
export const REASON_CHARACTERS_MAX = 300;
/** Control characters, line breaks and bidirectional marks, none of which belong in a table. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** The trimmed text, or what is wrong with it, to follow the name of a field or flag. */
export type JudgedText = { readonly text: string } | WrongText;

interface WrongText {
  readonly fault: string;
}

export function judgeRecordName(value: string): JudgedText {
  const text = value.trim();
  return faultOf(text, RECORD_NAME_CHARACTERS_MAX, 'give it a name') ?? { text };
}

/** A team's reference: the operator's own number or word for it. */
export function judgeReference(value: string): JudgedText {
  const text = value.trim();
  // Every list and event shows it.
  const held = holdsKey(text) ? { fault: 'holds a key; leave it out' } : undefined;
  return faultOf(text, REFERENCE_CHARACTERS_MAX, 'give one of 1 to 64 characters') ?? held ?? { text };
}

export function judgeReason(value: string): JudgedText {
  const text = value.trim();
  // It is stored and shown to everyone with read access.
  const held = holdsKey(text) ? { fault: 'holds a key; leave it out' } : undefined;
  return faultOf(text, REASON_CHARACTERS_MAX, 'say why') ?? held ?? { text };
}

function faultOf(text: string, charactersMax: number, advice: string): WrongText | undefined {
  if (text === '') return { fault: `is blank; ${advice}` };
  if (countCharacters(text) > charactersMax) return { fault: `is too long; it may have at most ${charactersMax} characters` };
  return UNPRINTABLE.test(text) ? { fault: 'holds a control character; use printable characters only' } : undefined;
}
