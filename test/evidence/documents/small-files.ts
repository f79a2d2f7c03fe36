// Small files of several formats whose texts name their document, so that an engine knows whose they are, and a test what they cost.
import { countCharacters } from '../../../src/index.ts';
import { smallWord } from '../../support/documents/office-samples.ts';
import type { Seeded } from '../faults/seeded.ts';

export interface SmallFile {
  readonly fileName: string;
  readonly bytes: Uint8Array;
  readonly texts: readonly string[];
  /** What a translation of it costs. */
  readonly characters: number;
  /** Its texts are in the file as they are; otherwise it is an archive. */
  readonly isText: boolean;
}

const lines = (texts: readonly string[], make: (text: string, index: number) => string): string => texts.map(make).join('\n');

const FORMATS: Readonly<Record<string, (texts: readonly string[]) => string | Uint8Array>> = {
  txt: (texts) => `${texts.join('\n\n')}\n`,
  html: page,
  srt: (texts) => lines(texts, (text, index) => `${index + 1}\n00:00:${two(index)},000 --> 00:00:${two(index)},900\n${text}\n`),
  docx: (texts) => smallWord(texts.map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`).join('')),
};

const WORDS = ['one', 'two', 'three', 'four', 'tree', 'house', 'água', 'maß', '語', '👍'];

/** The document's number is in each of its texts: `d7`. */
export function smallFile(number: number, random: Seeded): SmallFile {
  const texts = textsOf(number, random.chance(0.05) ? random.between(60, 130) : random.between(1, 8), random);
  const format = random.oneOf(Object.keys(FORMATS));
  // A subtitle's minute has sixty seconds.
  const some = format === 'srt' ? texts.slice(0, 59) : texts;
  return fileOf(`d${number}.${format}`, FORMATS[format]!(some), some, format !== 'docx');
}

/** Looks like a page, and is found to have another encoding when it is read. */
export function brokenFile(number: number): SmallFile {
  return fileOf(`d${number}.html`, `<meta charset="utf-7"><p>d${number} is never translated`, [], true);
}

/** The number of the document that a text is of. */
export function numberIn(text: string): number {
  return Number(/\bd(\d+)\b/.exec(text)?.[1]);
}

function textsOf(number: number, count: number, random: Seeded): string[] {
  return Array.from(
    { length: count },
    (_, index) => `d${number} ${index} ${Array.from({ length: random.between(1, 9) }, () => random.oneOf(WORDS)).join(' ')}`,
  );
}

function page(texts: readonly string[]): string {
  return `<!DOCTYPE html><html><body>${lines(texts, (text) => `<p>${text}</p>`)}</body></html>`;
}

function two(index: number): string {
  return String(index).padStart(2, '0');
}

function fileOf(fileName: string, content: string | Uint8Array, texts: readonly string[], isText: boolean): SmallFile {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { fileName, bytes, texts, characters: texts.reduce((sum, text) => sum + countCharacters(text), 0), isText };
}
