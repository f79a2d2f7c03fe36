// The text of a file, or of a part of it, and back: UTF-8 with or without a byte order mark, and
// UTF-16 with one.
import { refuse } from './limits.ts';
import type { ZipEntry } from './zip-archive.ts';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be';

export interface Source {
  readonly text: string;
  readonly encoding: Encoding;
  /** Whether the file begins with a byte order mark, which is not in `text`. */
  readonly marked: boolean;
  /** In refusals: `the file`, `the part word/document.xml`. */
  readonly what: string;
  /** Of a part of an archive. */
  readonly entry?: ZipEntry;
}

const MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

export function decoded(bytes: Uint8Array, what = 'the file'): Source {
  const [encoding, mark] = MARKS.find(([, start]) => start.every((byte, index) => bytes[index] === byte)) ?? ['utf-8' as const, []];
  try {
    const text = new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes.subarray(mark.length));
    return { text, encoding, marked: mark.length > 0, what };
  } catch {
    refuse(`${what} is not encoded in UTF-8: save it as UTF-8`);
  }
}

/** `like` the source from which it was made. */
export function encoded(text: string, like: Source): Uint8Array {
  const mark = like.marked ? '\ufeff' : '';
  if (like.encoding === 'utf-8') return Buffer.from(mark + text, 'utf8');
  const bytes = Buffer.from(mark + text, 'utf16le');
  return like.encoding === 'utf-16le' ? bytes : bytes.swap16();
}

/** Refuses a declared encoding other than that in which the text was read. */
export function limitDeclared(declared: string | undefined, like: Source): void {
  if (declared === undefined) return;
  const name = declared.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const family = like.encoding === 'utf-8' ? ['utf8', 'usascii', 'ascii', 'charset'] : ['utf16', 'utf16le', 'utf16be'];
  if (!family.includes(name)) refuse(`the file says that its encoding is ${declared.slice(0, 40)}: save it as UTF-8`);
}
