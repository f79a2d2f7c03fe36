// Text that operators enter: names and labels of teams and keys, and their own references, fit for
// a table row; and reasons for changes, which the audit stores.
import { holdsKey } from './api-key.ts';
import { countCharacters } from './characters.ts';

export const RECORD_NAME_CHARACTERS_MAX = 100;
export const REFERENCE_CHARACTERS_MAX = 64;
export const REASON_CHARACTERS_MAX = 300;
/** Line breaks among them: none belongs in a table. */
const CONTROL = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
/** What reorders text, or cannot be seen. U+200C and U+200D are parts of words and emoji. */
const HIDDEN = /[\u200B\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/u;

/** Why a text is no name, after its member's name; every list, log and event shows it. */
export function nameFault(text: string): string | undefined {
  if (CONTROL.test(text)) return 'holds a control character; use printable characters only';
  if (HIDDEN.test(text)) return 'holds an invisible character; use printable characters only';
  return holdsKey(text) ? 'holds a key; leave it out' : undefined;
}

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
  return faultOf(text, REFERENCE_CHARACTERS_MAX, 'give one of 1 to 64 characters') ?? { text };
}

export function judgeReason(value: string): JudgedText {
  const text = value.trim();
  return faultOf(text, REASON_CHARACTERS_MAX, 'say why') ?? { text };
}

function faultOf(text: string, charactersMax: number, advice: string): WrongText | undefined {
  if (text === '') return { fault: `is blank; ${advice}` };
  if (countCharacters(text) > charactersMax) return { fault: `is too long; it may have at most ${charactersMax} characters` };
  const fault = nameFault(text);
  return fault === undefined ? undefined : { fault };
}
