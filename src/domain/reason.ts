// An operator's reason for a change: a line of text that the audit keeps.
import { holdsKey } from './api-key.ts';
import { countCharacters } from './characters.ts';
import { isPrintable } from './record-name.ts';

export const REASON_CHARACTERS_MAX = 300;

/** The trimmed reason, or what is wrong with it, to follow the name of a field or flag. */
export function judgeReason(value: string): { readonly reason: string } | { readonly fault: string } {
  const reason = value.trim();
  if (reason === '') return { fault: 'is blank; say why' };
  if (countCharacters(reason) > REASON_CHARACTERS_MAX)
    return { fault: `is too long; it may have at most ${REASON_CHARACTERS_MAX} characters` };
  if (!isPrintable(reason)) return { fault: 'holds a control character; use printable characters only' };
  // It is stored and shown to everyone with read access.
  if (holdsKey(reason)) return { fault: 'holds a key; leave it out' };
  return { reason };
}
