// JSON of strings: every string that is a value is a text; names of members, numbers and the layout stay.
import { JSON_DEPTH_MAX } from './document-limits.ts';
import { NO_COPIES, hasLetter, hasWords, limitTexts } from './passage.ts';
import type { Passage, PassageSource } from './passage.ts';
import { refuse } from './refused-file.ts';

/** In a valid text, exactly its strings, and what opens and closes. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{}]/g;
const IS_NAME = /\s*:/y;

export function jsonStrings(source: string): PassageSource {
  limitDepth(source);
  try {
    JSON.parse(source);
  } catch (error) {
    refuse(`the file is not valid JSON: ${(error as Error).message.slice(0, 100)}`);
  }
  limitStrings(source);
  const passages: Passage[] = [];
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    if (!isValue(source, token, index)) continue;
    const passage = passageOf(token, index);
    if (passage !== undefined) passages.push(passage);
  }
  return { source, passages, copies: NO_COPIES };
}

/** Before there is a passage for each, which takes a hundred times the memory of a short string. */
function limitStrings(source: string): void {
  let count = 0;
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    if (!isValue(source, token, index)) continue;
    if (hasLetter(token.includes('\\') ? (JSON.parse(token) as string) : token)) limitTexts(++count);
  }
}

/** Whether the token is a string, and no name. */
function isValue(source: string, token: string, index: number): boolean {
  IS_NAME.lastIndex = index + token.length;
  return token[0] === '"' && !IS_NAME.test(source);
}

function limitDepth(source: string): void {
  let depth = 0;
  for (const { 0: token } of source.matchAll(TOKENS)) {
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    if (depth > JSON_DEPTH_MAX) refuse(`the file is nested more than ${JSON_DEPTH_MAX} levels deep`);
  }
}

function passageOf(token: string, index: number): Passage | undefined {
  const value = JSON.parse(token) as string;
  const text = value.trim();
  const span = { from: index, to: index + token.length };
  const pieces = [{ kind: 'text' as const, text, span }];
  if (!hasWords(pieces)) return undefined;
  const at = value.indexOf(text);
  const [lead, trail] = [value.slice(0, at), value.slice(at + text.length)];
  const render: Passage['render'] = (given) =>
    JSON.stringify(lead + given.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('') + trail);
  return { ...span, pieces, always: false, render };
}
