// Names and labels of teams and keys: short, printable, suitable for a table row.
import { countCharacters } from './characters.ts';

export const RECORD_NAME_CHARACTERS_MAX = 100;
/** Control characters, line breaks and bidirectional marks, none of which belong in a table. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text);
}

/** The trimmed name, or what is wrong with it, to follow the name of a field or flag. */
export function judgeRecordName(value: string): { readonly name: string } | { readonly fault: string } {
  const name = value.trim();
  if (name === '') return { fault: 'is blank; give it a name' };
  if (countCharacters(name) > RECORD_NAME_CHARACTERS_MAX) {
    return { fault: `is too long; it may have at most ${RECORD_NAME_CHARACTERS_MAX} characters` };
  }
  if (!isPrintable(name)) return { fault: 'holds a control character; use printable characters only' };
  return { name };
}
