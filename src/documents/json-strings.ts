// JSON of strings: every string that is a value is a text; names of members, numbers and the layout stay.
import { JSON_DEPTH_MAX } from './document-limits.ts';
import { NO_COPIES, hasWords, limitTexts } from './passage.ts';
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
  const passages: Passage[] = [];
  for (const { 0: token, index } of source.matchAll(TOKENS)) {
    if (token[0] !== '"') continue;
    IS_NAME.lastIndex = index + token.length;
    if (IS_NAME.test(source)) continue;
    const passage = passageOf(token, index);
    if (passage !== undefined) passages.push(passage);
    limitTexts(passages.length);
  }
  return { source, passages, copies: NO_COPIES };
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
