// Formats of documents: each file in a thread, within limits of time and memory, one at a time.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { nextTurn } from '../core/turns.ts';
import type { Built, DocumentFormat, DocumentFormats, DocumentText, Extracted } from '../ports/document-formats.ts';
import { firstLook, ALL_FORMATS, formatOf } from './formats.ts';

/** The thread's `workerData`. */
export interface ReadingOrder {
  readonly format: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As `listPieces`, if the file is to be built. */
  readonly translations: readonly Uint8Array[] | undefined;
  readonly targetLang: string | undefined;
}

/** The only message of a thread. */
export type FromDocumentWorker =
  | { readonly kind: 'refused'; readonly reason: string }
  /** As `listPieces`. */
  | { readonly kind: 'texts'; readonly pieces: readonly Uint8Array[] }
  | { readonly kind: 'built'; readonly bytes: Uint8Array }
  /** A bug, in words for the log: nothing of the file is in them. */
  | { readonly kind: 'fault'; readonly error: string };

const PIECE_ENTRIES = 500;
const PIECE_CHARACTERS = 100_000;

/** In pieces, each in a turn of the event loop: a long one at once would hold it up. */
export function* listPieces<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<Uint8Array<ArrayBuffer>, void> {
  const encoder = new TextEncoder();
  for (let from = 0, to = 0; from < list.length; from = to) {
    for (let length = 0; to < list.length && to - from < PIECE_ENTRIES && length < PIECE_CHARACTERS;) length += lengthOf(list[to++]!);
    yield encoder.encode(JSON.stringify(list.slice(from, to)));
  }
}

export interface DocumentFormatsOptions {
  /** For one call, once the thread works on it; 30,000, because it has little of a busy machine. */
  readonly timeMs?: number;
  /** Of the thread's JavaScript objects, in MiB; default 256. Bytes of files are limited apart. */
  readonly memoryMiB?: number;
  /** Gets where a bug showed, or why the thread died, in words for a log. */
  readonly onFault?: (words: string) => void;
  /** The code of the thread; only tests have another. */
  readonly worker?: URL;
}

type Refused = { readonly kind: 'refused'; readonly reason: string };
type FileResult =
  | Refused
  | { readonly kind: 'extracted'; readonly texts: DocumentText[] }
  | { readonly kind: 'built'; readonly bytes: Uint8Array };

/** `translations` are `undefined` for an extraction. */
interface Job {
  readonly format: DocumentFormat;
  readonly bytes: Uint8Array;
  readonly translations: readonly string[] | undefined;
  readonly targetLang: string | undefined;
}

const TIME_MS = 30_000;
const MEMORY_MIB = 256;
/** Small, because V8 lets it grow to three times as much before it collects. */
const YOUNG_MIB = 8;
const STACK_MIB = 4;
const WORKER = new URL(`./document-thread${extname(import.meta.url)}`, import.meta.url);
const STOPPING: Refused = { kind: 'refused', reason: 'the gateway is stopping' };
const UNREADABLE: Refused = { kind: 'refused', reason: 'the file cannot be read' };

export function createDocumentFormats(options: DocumentFormatsOptions = {}): DocumentFormats {
  const reader = new FileReader(options);
  return {
    all: ALL_FORMATS,
    formatOf,
    firstLook,
    extract: (format, bytes) => reader.run({ format, bytes, translations: undefined, targetLang: undefined }) as Promise<Extracted>,
    build: (format, bytes, translations, targetLang) => reader.run({ format, bytes, translations, targetLang }) as Promise<Built>,
    close: () => reader.close(),
  };
}

class FileReader {
  readonly #options: DocumentFormatsOptions;
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | undefined;
  #isClosed = false;

  constructor(options: DocumentFormatsOptions) {
    this.#options = options;
  }

  run(job: Job): Promise<FileResult> {
    const result = this.#last.then(() => (this.#isClosed ? STOPPING : this.#read(job)));
    this.#last = result;
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  async #read({ format, bytes, translations, targetLang }: Job): Promise<FileResult> {
    const pieces: Uint8Array<ArrayBuffer>[] | undefined = translations && [];
    for (const piece of listPieces(translations ?? [], ({ length }) => length)) {
      pieces!.push(piece);
      await nextTurn();
    }
    if (this.#isClosed) return STOPPING;
    // The caller may use its bytes again, so the thread gets a copy.
    const order: ReadingOrder = { format: format.name, bytes: new Uint8Array(bytes), translations: pieces, targetLang };
    const worker = this.#started(order, [order.bytes.buffer, ...(pieces ?? []).map(({ buffer }) => buffer)]);
    this.#worker = worker;
    const answer = await this.#answerOf(worker);
    await worker.terminate();
    if (answer.kind !== 'texts') return answer;
    const texts: DocumentText[] = [];
    const decoder = new TextDecoder();
    for (const piece of answer.pieces) {
      texts.push(...(JSON.parse(decoder.decode(piece)) as DocumentText[]));
      await nextTurn();
    }
    return { kind: 'extracted', texts };
  }

  #started(workerData: ReadingOrder, transferList: ArrayBuffer[]): Worker {
    const { memoryMiB = MEMORY_MIB, worker = WORKER } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: YOUNG_MIB, stackSizeMb: STACK_MIB };
    return new Worker(worker, { resourceLimits, name: 'documents', workerData, transferList });
  }

  async #answerOf(worker: Worker): Promise<Exclude<FromDocumentWorker, { readonly kind: 'fault' }>> {
    const { timeMs = TIME_MS, onFault } = this.#options;
    const { promise, resolve } = Promise.withResolvers<FromDocumentWorker>();
    let timer: NodeJS.Timeout | undefined;
    worker.once('online', () => {
      timer = setTimeout(() => resolve(refused(`reading the file takes longer than ${timeMs / 1000} seconds`)), timeMs);
    });
    worker.on('error', ({ name, code }: Error & { readonly code?: string }) => {
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(refused('the file needs too much memory to be read'));
      else resolve({ kind: 'fault', error: `the thread has failed: ${name} ${code ?? ''}` });
    });
    worker.on('exit', () => resolve(this.#isClosed ? STOPPING : { kind: 'fault', error: 'the thread has ended' }));
    worker.on('message', resolve);
    const answer = await promise;
    clearTimeout(timer);
    if (answer.kind !== 'fault') return answer;
    onFault?.(answer.error);
    return UNREADABLE;
  }
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}
