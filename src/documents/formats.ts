// What formats do, and THE table of them: their names, which are the endings of files, and the first
// look at a file, on the event loop: its size, its first bytes, and of an archive the directory.
import { FILE_BYTES_MAX, inWords, orRefused, refuse } from './limits.ts';
import { zipDirectory } from './zip-archive.ts';

/** Translated as a whole: a paragraph, a cell, a message, a cue. Never only white space. */
export interface DocumentText {
  readonly text: string;
  /**
   * `xml` if elements `<x1>…</x1>` or `<x1/>`, numbered in order, stand for what is formatted
   * differently, with the five entities of XML; otherwise it is plain.
   */
  readonly format: 'text' | 'xml';
}

/** What is wrong with a file, in words for its sender. */
export interface FileRefusal {
  readonly kind: 'refused';
  readonly reason: string;
}

export type Extracted = { readonly kind: 'extracted'; readonly texts: readonly DocumentText[] } | FileRefusal;

export type Built = { readonly kind: 'built'; readonly bytes: Uint8Array } | FileRefusal;

/** A format by which files are read, named by the ending of their names. */
export interface DocumentFormat {
  /** Lower case, without the dot: `docx`. */
  readonly name: string;
  readonly mediaType: string;
}

/** Not on the event loop; each call limits bytes, entries, depth, compression and time. */
export interface DocumentFormats {
  /** Every format that can be read, in order of their names. */
  readonly all: readonly DocumentFormat[];
  /** By the name of a file, whatever its case; `undefined` if its ending is none of them. */
  formatOf(fileName: string): DocumentFormat | undefined;
  /** A first look, cheap enough for the event loop: why the file cannot be of this format. */
  firstLook(format: DocumentFormat, bytes: Uint8Array): string | undefined;
  /** The texts in order of reading. */
  extract(format: DocumentFormat, bytes: Uint8Array): Promise<Extracted>;
  /**
   * The file with a translation for each of its texts, in order, of the same `format`. Where the
   * file names its language, it names the target.
   */
  build(format: DocumentFormat, bytes: Uint8Array, translations: readonly string[], targetLang?: string): Promise<Built>;
  close(): Promise<void>;
}

export type FormatName = keyof typeof FORMATS;

interface FormatRow {
  readonly mediaType: string;
  /** An archive must have an entry whose name begins with this. */
  readonly entry?: string;
}

const office = (rest: string): string => `application/vnd.openxmlformats-officedocument.${rest}`;

/** In order of their names. */
const FORMATS = {
  docx: { mediaType: office('wordprocessingml.document'), entry: 'word/' },
  htm: { mediaType: 'text/html' },
  html: { mediaType: 'text/html' },
  odt: { mediaType: 'application/vnd.oasis.opendocument.text', entry: 'content.xml' },
  pptx: { mediaType: office('presentationml.presentation'), entry: 'ppt/' },
  srt: { mediaType: 'application/x-subrip' },
  txt: { mediaType: 'text/plain' },
  vtt: { mediaType: 'text/vtt' },
  xlf: { mediaType: 'application/xliff+xml' },
  xliff: { mediaType: 'application/xliff+xml' },
  xlsx: { mediaType: office('spreadsheetml.sheet'), entry: 'xl/' },
} as const satisfies Readonly<Record<string, FormatRow>>;

export const ALL_FORMATS: readonly DocumentFormat[] = Object.entries(FORMATS).map(([name, { mediaType }]) => ({ name, mediaType }));

export function formatOf(fileName: string): DocumentFormat | undefined {
  const ending = /\.([^./\\]+)$/.exec(fileName)?.[1]?.toLowerCase();
  return ALL_FORMATS.find(({ name }) => name === ending);
}

/** Enough to see that a file is no text. */
const LOOKED_AT_BYTES = 4096;
/** Of other files that people send by mistake. */
const MAGIC: readonly (readonly [name: string, start: string])[] = [
  ['a zip archive', 'PK\u0003\u0004'],
  ['a PDF file', '%PDF-'],
  ['a file of an old Office program', '\u00d0\u00cf\u0011\u00e0'],
  ['a gzip file', '\u001f\u008b'],
  ['an RTF file', '{\\rtf'],
  ['a PNG picture', '\u0089PNG'],
];

export function firstLook(format: DocumentFormat, bytes: Uint8Array): string | undefined {
  return orRefused(() => look(format.name, bytes))?.reason;
}

/** Refuses the file by throwing. */
export function look(name: string, bytes: Uint8Array): undefined {
  if (bytes.length > FILE_BYTES_MAX) refuse(`the file has more than ${inWords(FILE_BYTES_MAX)}`);
  if (bytes.length === 0) refuse('the file is empty');
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, LOOKED_AT_BYTES));
  const head = start.toString('latin1');
  const other = MAGIC.find(([, magic]) => head.startsWith(magic))?.[0];
  const { entry }: FormatRow = FORMATS[name as FormatName];
  if (entry !== undefined) {
    if (other !== 'a zip archive') refuse(`the file is ${other ?? 'no zip archive'}, and not a ${name} file`);
    if (!zipDirectory(bytes).entries.some((one) => one.name.toLowerCase().startsWith(entry)))
      refuse(`the file is a zip archive, but not a ${name} file`);
    return;
  }
  if (other !== undefined) refuse(`the file is ${other}, and not a ${name} file`);
  const isUtf16 = head.startsWith('\u00ff\u00fe') || head.startsWith('\u00fe\u00ff');
  if (isUtf16) return;
  if (start.includes(0)) refuse('the file is no text: it contains a zero byte');
  if (name.startsWith('xl') && !/^(?:\u00ef\u00bb\u00bf)?\s*</.test(head)) refuse('the file is no XML');
}
