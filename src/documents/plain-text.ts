// Plain text: paragraphs between empty lines, and long ones cut at the ends of lines or sentences.
import { PLAIN_CHARACTERS_MAX } from './limits.ts';
import { Passages, plainPassage } from './passage.ts';
import type { Passage, SourceSpan } from './passage.ts';

/** Where a long text is cut, preferred first: after a line, a sentence, a word. */
const CUTS: readonly ((text: string, at: number) => boolean)[] = [
  (text, at) => text[at - 1] === '\n',
  (text, at) => /\s/.test(text[at - 1]!) && '.!?。！？'.includes(text[at - 2] ?? ' '),
  (text, at) => /\s/.test(text[at - 1]!),
];

export function plainText(source: string): readonly Passage[] {
  const newLine = /\r?\n/.exec(source)?.[0] ?? '\n';
  const found = new Passages();
  for (const span of paragraphs(source)) for (const part of cut(source, span)) found.add(...passageAt(source, part, newLine));
  return found.all;
}

/** With the white space at which it was cut, which counts. */
function passageAt(source: string, span: SourceSpan, newLine: string): readonly Passage[] {
  const text = source.slice(span.from, span.to);
  const words = text.trim();
  const at = text.indexOf(words);
  const ends = words.match(/\r?\n/g) ?? [];
  // Engines drop white space around a text.
  return plainPassage(text, span, (given) => text.slice(0, at) + oneParagraph(given, ends, newLine) + text.slice(at + words.length));
}

/** What is between empty lines, without the white space around. */
function* paragraphs(source: string): Generator<SourceSpan, void> {
  let at = 0;
  for (const { index } of source.matchAll(/\n(?=[^\S\n]*\n)|$/g)) {
    const lines = source.slice(at, index);
    const words = lines.trim();
    const from = at + lines.indexOf(words);
    if (words !== '') yield { from, to: from + words.length };
    at = index + 1;
  }
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
