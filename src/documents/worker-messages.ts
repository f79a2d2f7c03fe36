// The messages between the gateway and the thread that parses documents. Lists go in batches, each when the last has been handled:
// a long one at once would hold up the event loop.
import type { DocumentText } from '../ports/document-formats.ts';

export type ToDocumentWorker =
  | { readonly kind: 'extract'; readonly format: string; readonly bytes: Uint8Array }
  | {
      readonly kind: 'build';
      readonly format: string;
      readonly bytes: Uint8Array;
      readonly translations: number;
      readonly targetLang: string | undefined;
    }
  /** For the last `build`, until it has all. */
  | { readonly kind: 'translations'; readonly batch: readonly string[] }
  /** Asks for the next batch of texts. */
  | { readonly kind: 'more' };

export type FromDocumentWorker =
  /** It has loaded what it needs. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'texts'; readonly batch: readonly DocumentText[]; readonly isLast: boolean }
  | { readonly kind: 'built'; readonly bytes: Uint8Array }
  /** A bug, in words for the log: nothing of the file is in them. */
  | { readonly kind: 'fault'; readonly error: string };

const BATCH_TEXTS = 500;
const BATCH_CHARACTERS = 100_000;

/** The end of the batch that begins at `from`. */
export function batchEnd<T>(list: readonly T[], from: number, lengthOf: (entry: T) => number): number {
  let characters = 0;
  let to = from;
  while (to < list.length && to - from < BATCH_TEXTS && characters < BATCH_CHARACTERS) characters += lengthOf(list[to++]!);
  return to;
}
