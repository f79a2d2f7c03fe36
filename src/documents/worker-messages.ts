// What the gateway and the thread of a file say to each other. Lists go in batches, each when the last has been handled: a long one at
// once would hold up the event loop.
import type { DocumentText } from '../ports/document-formats.ts';

/** The thread's `workerData`. */
export interface ReadingOrder {
  readonly format: string;
  readonly bytes: Uint8Array;
  /** How many there are, if the file is to be built. */
  readonly translations: number | undefined;
  readonly targetLang: string | undefined;
}

export type FromDocumentWorker =
  | { readonly kind: 'refused'; readonly reason: string }
  /** Answered by any message, unless it is the last. */
  | { readonly kind: 'texts'; readonly batch: readonly DocumentText[]; readonly isLast: boolean }
  /** Asks for translations: they are the answer. */
  | { readonly kind: 'more' }
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
