// Formats of documents by a worker thread, which is replaced when it dies or takes too long, and ends when nothing has come for a while;
// calls wait for each other.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Built, DocumentFormat, DocumentFormats, DocumentText, Extracted } from '../ports/document-formats.ts';
import { firstLook } from './first-look.ts';
import { ALL_FORMATS, formatOf } from './format-table.ts';
import { batchEnd } from './worker-messages.ts';
import type { FromDocumentWorker, ToDocumentWorker } from './worker-messages.ts';

export interface DocumentFormatsOptions {
  /** For one call, once the thread works on it; default 30,000, because it has little of a busy machine. */
  readonly timeMs?: number;
  /** Of JavaScript objects in the thread, in MiB; default 256. Bytes of files are limited otherwise. */
  readonly memoryMiB?: number;
  /** How long the thread waits for another call before it ends and its memory goes back to the system; default 30,000. */
  readonly idleMs?: number;
  /** Gets where a bug showed, or why the thread died, in words for a log. */
  readonly onFault?: (words: string) => void;
  /** The code of the thread; only tests have another. */
  readonly worker?: URL;
}

type Refused = { readonly kind: 'refused'; readonly reason: string };
type JobResult =
  | Refused
  | { readonly kind: 'extracted'; readonly texts: DocumentText[] }
  | { readonly kind: 'built'; readonly bytes: Uint8Array };

interface Job {
  readonly format: DocumentFormat;
  readonly bytes: Uint8Array;
  /** `undefined` for an extraction. */
  readonly translations: readonly string[] | undefined;
  readonly targetLang?: string | undefined;
  readonly texts: DocumentText[];
  readonly done: (result: JobResult) => void;
}

const TIME_MS = 30_000;
const IDLE_MS = 30_000;
const MEMORY_MIB = 256;
/** Small, because V8 lets it grow to three times as much before it collects, also for files that leave little. */
const YOUNG_MIB = 8;
const STACK_MIB = 4;
const WORKER = new URL(`./document-thread${extname(import.meta.url)}`, import.meta.url);

export function createDocumentFormats(options: DocumentFormatsOptions = {}): DocumentFormats {
  const thread = new DocumentThread(options);
  return {
    all: ALL_FORMATS,
    formatOf,
    firstLook,
    extract: (format, bytes) => thread.run(format, bytes, undefined) as Promise<Extracted>,
    build: (format, bytes, translations, targetLang) => thread.run(format, bytes, translations, targetLang) as Promise<Built>,
    close: () => thread.close(),
  };
}

class DocumentThread {
  readonly #options: DocumentFormatsOptions;
  readonly #waiting: Job[] = [];
  #job: Job | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isReady = false;
  #isClosed = false;

  constructor(options: DocumentFormatsOptions) {
    this.#options = options;
  }

  run(format: DocumentFormat, bytes: Uint8Array, translations: readonly string[] | undefined, targetLang?: string): Promise<JobResult> {
    const { promise, resolve } = Promise.withResolvers<JobResult>();
    this.#waiting.push({ format, bytes, translations, targetLang, texts: [], done: resolve });
    this.#next();
    return promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#forget();
    for (const job of this.#waiting.splice(0)) job.done(refused('the gateway is stopping'));
    this.#end(refused('the gateway is stopping'));
    await worker?.terminate();
  }

  #next(): void {
    if (this.#job !== undefined) return;
    clearTimeout(this.#idle);
    this.#job = this.#waiting.shift();
    if (this.#job === undefined) {
      this.#endWhenIdle();
    } else if (this.#isClosed) {
      this.#end(refused('the gateway is stopping'));
    } else if (this.#worker === undefined) {
      this.#start();
    } else {
      this.#worker.ref();
      // Otherwise it begins when the thread is ready.
      if (this.#isReady) this.#begin(this.#job, this.#worker);
    }
  }

  #endWhenIdle(): void {
    const worker = this.#worker;
    if (worker === undefined) return;
    worker.unref();
    const { idleMs = IDLE_MS } = this.#options;
    this.#idle = setTimeout(() => {
      if (worker === this.#worker) this.#forget();
      void worker.terminate();
    }, idleMs).unref();
  }

  #start(): void {
    const { memoryMiB = MEMORY_MIB, worker: code = WORKER } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: memoryMiB, maxYoungGenerationSizeMb: YOUNG_MIB, stackSizeMb: STACK_MIB };
    const worker = new Worker(code, { resourceLimits, name: 'documents' });
    this.#worker = worker;
    worker.on('message', (message: FromDocumentWorker) => {
      if (worker === this.#worker) this.#heard(message, worker);
    });
    worker.on('error', (error: Error & { readonly code?: string }) => {
      if (worker !== this.#worker) return;
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (!isMemory) this.#options.onFault?.(`the thread has failed: ${error.name} ${error.code ?? ''}`);
      this.#forget();
      this.#end(refused(isMemory ? 'the file needs too much memory to be read' : 'the file cannot be read'));
    });
    worker.on('exit', () => {
      if (worker !== this.#worker) return;
      this.#options.onFault?.('the thread has ended');
      this.#forget();
      this.#end(refused('the file cannot be read'));
    });
  }

  #begin({ format, bytes, translations, targetLang }: Job, worker: Worker): void {
    const { timeMs = TIME_MS } = this.#options;
    this.#timer = setTimeout(() => {
      this.#forget();
      void worker.terminate();
      this.#end(refused(`reading the file takes longer than ${timeMs / 1000} seconds`));
    }, timeMs);
    // The caller keeps its bytes, so the thread gets a copy.
    const copy = new Uint8Array(bytes);
    const send = (message: ToDocumentWorker): void => worker.postMessage(message, 'bytes' in message ? [copy.buffer] : []);
    if (translations === undefined) {
      send({ kind: 'extract', format: format.name, bytes: copy });
    } else {
      send({ kind: 'build', format: format.name, bytes: copy, translations: translations.length, targetLang });
      this.#sendTranslations(translations, 0, worker);
    }
  }

  /** A batch in each turn of the event loop. */
  #sendTranslations(translations: readonly string[], from: number, worker: Worker): void {
    if (from === translations.length || worker !== this.#worker) return;
    const to = batchEnd(translations, from, ({ length }) => length);
    worker.postMessage({ kind: 'translations', batch: translations.slice(from, to) } satisfies ToDocumentWorker, []);
    setImmediate(() => this.#sendTranslations(translations, to, worker));
  }

  #heard(message: FromDocumentWorker, worker: Worker): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        if (this.#job !== undefined) this.#begin(this.#job, worker);
        return;
      case 'texts':
        clearTimeout(this.#timer);
        this.#job?.texts.push(...message.batch);
        if (message.isLast) this.#end({ kind: 'extracted', texts: this.#job?.texts ?? [] });
        else worker.postMessage({ kind: 'more' } satisfies ToDocumentWorker, []);
        return;
      case 'built':
      case 'refused':
        this.#end(message);
        return;
      case 'fault':
        this.#options.onFault?.(message.error);
        this.#end(refused('the file cannot be read'));
    }
  }

  /** Its thread is not listened to any more; the next call starts another. */
  #forget(): void {
    this.#worker = undefined;
    this.#isReady = false;
  }

  #end(result: JobResult): void {
    clearTimeout(this.#timer);
    const job = this.#job;
    this.#job = undefined;
    job?.done(result);
    this.#next();
  }
}

function refused(reason: string): Refused {
  return { kind: 'refused', reason };
}
