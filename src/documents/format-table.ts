// THE table of formats: their names, which are the endings of files, and how each is recognized.
import type { DocumentFormat } from '../ports/document-formats.ts';

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

export function rowOf({ name }: DocumentFormat): FormatRow {
  return FORMATS[name as FormatName];
}
