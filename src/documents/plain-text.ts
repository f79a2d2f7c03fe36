// Plain text: paragraphs between empty lines, and long ones cut at the ends of lines or sentences.
import { PLAIN_CHARACTERS_MAX } from './limits.ts';
import { limitTexts, plainPassage } from './passage.ts';
import type { Passage, SourceSpan } from './passage.ts';

/** Where a long text is cut, preferred first: after a line, a sentence, a word. */
const CUTS: readonly ((text: string, at: number) => boolean)[] = [
  (text, at) => text[at - 1] === '\n',
  (text, at) => /\s/.test(text[at - 1]!) && '.!?。！？'.includes(text[at - 2] ?? ' '),
  (text, at) => /\s/.test(text[at - 1]!),
];

export function plainText(source: string): readonly Passage[] {
  const passages: Passage[] = [];
  const newLine = /\r?\n/.exec(source)?.[0] ?? '\n';
  for (const paragraph of paragraphs(source)) {
    for (const span of cut(source, withoutSpace(source, paragraph))) {
      const passage = passageAt(source, span, newLine);
      if (passage !== undefined) passages.push(passage);
      limitTexts(passages.length);
    }
  }
  return passages;
}

function withoutSpace(source: string, { from: start, to: end }: SourceSpan): SourceSpan {
  let [from, to] = [start, end];
  while (from < to && /\s/.test(source[from]!)) from++;
  while (to > from && /\s/.test(source[to - 1]!)) to--;
  return { from, to };
}

/** With the white space at which it was cut, which counts. `undefined` if that is all. */
function passageAt(source: string, span: SourceSpan, newLine: string): Passage | undefined {
  const text = source.slice(span.from, span.to);
  const words = withoutSpace(text, { from: 0, to: text.length });
  const ends = text.slice(words.from, words.to).match(/\r?\n/g) ?? [];
  // Engines drop white space around a text.
  return plainPassage(text, span, (given) => text.slice(0, words.from) + oneParagraph(given, ends, newLine) + text.slice(words.to));
}

/** Lines with something in them, together. */
function paragraphs(source: string): SourceSpan[] {
  const found: SourceSpan[] = [];
  let from: number | undefined;
  let at = 0;
  for (const line of source.split('\n')) {
    if (line.trim() === '') {
      if (from !== undefined) found.push({ from, to: at });
      from = undefined;
    } else {
      from ??= at;
    }
    at += line.length + 1;
  }
  if (from !== undefined) found.push({ from, to: source.length });
  return found;
}

function cut(source: string, { from, to }: SourceSpan): SourceSpan[] {
  const found: SourceSpan[] = [];
  let at = from;
  while (to - at > PLAIN_CHARACTERS_MAX) {
    const end = at + cutLength(source.slice(at, at + PLAIN_CHARACTERS_MAX));
    found.push({ from: at, to: end });
    at = end;
  }
  return [...found, { from: at, to }];
}

function cutLength(text: string): number {
  for (const isCut of CUTS) {
    for (let at = text.length; at > 0; at--) if (isCut(text, at)) return at;
  }
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length;
}

/** An empty line would make two paragraphs. Lines end as before, more as the last. */
function oneParagraph(text: string, ends: readonly string[], newLine: string): string {
  let line = 0;
  return text.trim().replaceAll(/\r?\n(?:[^\S\n]*\n)*/g, () => ends[line++] ?? ends.at(-1) ?? newLine);
}
