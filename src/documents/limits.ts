// The limits within which files are read: beyond, they are refused with the limit's name.
import type { FileRefusal } from './formats.ts';

/** Its message is for the file's sender. Caught where a file is read, and only there. */
export class RefusedFile extends Error {}

export function refuse(reason: string): never {
  throw new RefusedFile(reason);
}

/** What `read` returns, or why the file is refused. */
export function orRefused<T>(read: () => T): T | FileRefusal {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusedFile) return { kind: 'refused', reason: error.message };
    throw error;
  }
}

const MIB = 1_048_576;

export const FILE_BYTES_MAX = 30 * MIB;
/** Entries of an archive. */
export const ENTRIES_MAX = 2_000;
/** Of one entry, inflated. */
export const ENTRY_BYTES_MAX = 32 * MIB;
/** Of all entries, inflated. */
export const INFLATED_BYTES_MAX = 128 * MIB;
/** How much longer than compressed an entry over `SMALL_BYTES` may be. */
export const RATIO_MAX = 100;
export const SMALL_BYTES = MIB;
export const XML_DEPTH_MAX = 256;
/** At the end of a tag they are put into one object, which takes long for many. */
export const ATTRIBUTES_MAX = 1_000;
export const SHEETS_MAX = 1_000;
export const TEXTS_MAX = 200_000;
/** Elements `<x1>` in one text. */
export const MARKS_MAX = 5_000;
/** Plain text has no paragraphs: a longer one is cut at ends of lines or sentences. */
export const PLAIN_CHARACTERS_MAX = 5_000;

/** As in English: `30 MiB`, `2,000`. Without `Intl`, whose first use takes 20 ms. */
export function inWords(count: number): string {
  return count >= MIB && count % MIB === 0 ? `${count / MIB} MiB` : String(count).replaceAll(/(?<=\d)(?=(?:\d{3})+$)/g, ',');
}
