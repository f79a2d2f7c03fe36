// Formats of documents, each file in a thread of its own, within limits of time and memory; files wait for each other.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Built, DocumentFormat, DocumentFormats, DocumentText, Extracted } from '../ports/document-formats.ts';
import { firstLook, ALL_FORMATS, formatOf } from './formats.ts';

/** The thread's `workerData`. Lists go in batches, each when the last has been handled: a long one at once would hold up the event loop. */
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

export interface DocumentFormatsOptions {
  /** For one call, once the thread works on it; default 30,000, because it has little of a busy machine. */
  readonly timeMs?: number;
  /** Of JavaScript objects in the thread, in MiB; default 256. Bytes of files are limited otherwise. */
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
interface Job extends Omit<ReadingOrder, 'translations' | 'format'> {
  readonly format: DocumentFormat;
  readonly translations: readonly string[] | undefined;
}

const TIME_MS = 30_000;
const MEMORY_MIB = 256;
/** Small, because V8 lets it grow to three times as much before it collects, also for files that leave little. */
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

  async #read(job: Job): Promise<FileResult> {
    const { timeMs = TIME_MS, onFault } = this.#options;
    const worker = this.#started(job);
    this.#worker = worker;
    const { promise, resolve } = Promise.withResolvers<FileResult>();
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = (result: FileResult, fault?: string): void => {
      if (!isOver && fault !== undefined) onFault?.(fault);
      isOver = true;
      resolve(result);
    };
    worker.once('online', () => {
      timer = setTimeout(() => end(refused(`reading the file takes longer than ${timeMs / 1000} seconds`)), timeMs);
    });
    worker.on('error', ({ name, code }: Error & { readonly code?: string }) => {
      if (code === 'ERR_WORKER_OUT_OF_MEMORY') end(refused('the file needs too much memory to be read'));
      else end(UNREADABLE, `the thread has failed: ${name} ${code ?? ''}`);
    });
    worker.on('exit', () => (this.#isClosed ? end(STOPPING) : end(UNREADABLE, 'the thread has ended')));
    exchange(worker, job, end);
    const result = await promise;
    clearTimeout(timer);
    await worker.terminate();
    return result;
  }

  #started({ format, bytes, translations, targetLang }: Job): Worker {
    const { memoryMiB = MEMORY_MIB, worker = WORKER } = this.#options;
    // The caller may use its bytes again, so the thread gets a copy.
    const copy = new Uint8Array(bytes);
    const workerData: ReadingOrder = { format: format.name, bytes: copy, translations: translations?.length, targetLang };
    const resourceLimits = { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: YOUNG_MIB, stackSizeMb: STACK_MIB };
    return new Worker(worker, { resourceLimits, name: 'documents', workerData, transferList: [copy.buffer] });
  }
}

/** Lists go in batches in both directions, each when it is asked for. */
function exchange(worker: Worker, { translations = [] }: Job, end: (result: FileResult, fault?: string) => void): void {
  const texts: DocumentText[] = [];
  let sent = 0;
  worker.on('message', (message: FromDocumentWorker) => {
    switch (message.kind) {
      case 'texts':
        texts.push(...message.batch);
        if (message.isLast) end({ kind: 'extracted', texts });
        else worker.postMessage([], []);
        return;
      case 'more': {
        const from = sent;
        sent = batchEnd(translations, from, ({ length }) => length);
        worker.postMessage(translations.slice(from, sent), []);
        return;
      }
      case 'built':
      case 'refused':
        end(message);
        return;
      case 'fault':
        end(UNREADABLE, message.error);
    }
  });
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}
