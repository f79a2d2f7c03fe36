// The name under which a translation is remembered: a digest of everything that decides what it is, so that no two requests can meet.
import { hash } from 'node:crypto';
import { keyOfOptions } from 'lingate';
import type { TranslationOptions } from 'lingate';

/** Changed when what goes into a key changes: what was remembered under older ones is not found then. */
const KEY_VERSION = 'lingate memory 1';

/** A digest, as text of 43 ASCII characters. */
export type TextKey = string;

/** What the keys of all texts of a piece of work begin with. `undefined` where it holds what UTF-8 cannot tell apart. */
export function keyBeginning(teamId: string, engine: string, options: TranslationOptions): string | undefined {
  const beginning = `${KEY_VERSION}|${counted(teamId)}${counted(engine)}${keyOfOptions(options)}`;
  return beginning.isWellFormed() ? counted(beginning) : undefined;
}

/** `undefined` for a text with half a surrogate pair: in UTF-8 it is the same as another one. */
export function keyOfText(beginning: string, text: string): TextKey | undefined {
  return text.isWellFormed() ? hash('sha256', beginning + text, 'base64url') : undefined;
}

/** With its length before it, no part can look like the end of another. */
function counted(part: string): string {
  return `${part.length}:${part}`;
}
