// Formats of documents: each file in a thread, within limits of time and memory, one at a time.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { nextTurn, partsForTurns } from '../core/turns.ts';
import type { Built, DocumentFormats, DocumentText, Extracted, FileRefusal } from './formats.ts';
import { ALL_FORMATS, firstLook, formatOf } from './formats.ts';

/** The thread's `workerData`. */
export interface ReadingOrder {
  readonly format: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As `jsonParts`, if the file is to be built. */
  readonly translations?: readonly Uint8Array[];
  readonly targetLang?: string | undefined;
}

/** The only message of a thread. */
export type FromDocumentWorker =
  | FileRefusal
  | Built
  /** As `jsonParts`. */
  | { readonly kind: 'texts'; readonly parts: readonly Uint8Array[] }
  /** A bug, in words for the log: nothing of the file is in them. */
  | { readonly kind: 'fault'; readonly error: string };

/** In parts, each in a turn of the event loop: a long list at once would hold it up. */
export function* jsonParts<T>(list: readonly T[], lengthOf: (entry: T) => number): Generator<Uint8Array<ArrayBuffer>, void> {
  const encoder = new TextEncoder();
  for (const part of partsForTurns(list, lengthOf)) yield encoder.encode(JSON.stringify(part));
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

/** The young generation is small, because V8 lets it grow to three times as much before it collects. */
const FIXED_LIMITS = { maxYoungGenerationSizeMb: 8, stackSizeMb: 4 };
const WORKER = new URL(`./document-thread${extname(import.meta.url)}`, import.meta.url);
const STOPPING: FileRefusal = { kind: 'refused', reason: 'the gateway is stopping' };
const UNREADABLE: FileRefusal = { kind: 'refused', reason: 'the file cannot be read' };

export function createDocumentFormats(options: DocumentFormatsOptions = {}): DocumentFormats {
  const { timeMs = 30_000, memoryMiB = 256, onFault, worker = WORKER } = options;
  const resourceLimits = { ...FIXED_LIMITS, maxOldGenerationSizeMb: memoryMiB };
  let last: Promise<unknown> = Promise.resolve();
  let running: Worker | undefined;
  let isClosed = false;

  function inOrder<Result>(read: () => Promise<Result | FileRefusal>): Promise<Result | FileRefusal> {
    const result = last.then(() => (isClosed ? STOPPING : read()));
    last = result;
    return result;
  }

  async function inThread(workerData: ReadingOrder): Promise<Exclude<FromDocumentWorker, { readonly kind: 'fault' }>> {
    if (isClosed) return STOPPING;
    const transferList = [workerData.bytes, ...(workerData.translations ?? [])].map(({ buffer }) => buffer as ArrayBuffer);
    const thread = (running = new Worker(worker, { resourceLimits, name: 'documents', workerData, transferList }));
    const answer = await answerOf(thread, timeMs);
    await thread.terminate();
    if (answer.kind !== 'fault') return answer;
    if (isClosed) return STOPPING;
    onFault?.(answer.error);
    return UNREADABLE;
  }

  return {
    all: ALL_FORMATS,
    formatOf,
    firstLook,
    extract: ({ name: format }, bytes) =>
      inOrder(async (): Promise<Extracted> => {
        // The caller may use its bytes again, so the thread gets a copy.
        const answer = await inThread({ format, bytes: new Uint8Array(bytes) });
        return answer.kind === 'texts' ? { kind: 'extracted', texts: await textsIn(answer.parts) } : (answer as FileRefusal);
      }),
    build: ({ name: format }, bytes, texts, targetLang) =>
      inOrder(async (): Promise<Built> => {
        const translations: Uint8Array<ArrayBuffer>[] = [];
        for (const part of jsonParts(texts, ({ length }) => length)) {
          translations.push(part);
          await nextTurn();
        }
        return (await inThread({ format, bytes: new Uint8Array(bytes), translations, targetLang })) as Built;
      }),
    async close() {
      isClosed = true;
      await running?.terminate();
    },
  };
}

async function textsIn(parts: readonly Uint8Array[]): Promise<readonly DocumentText[]> {
  const texts: DocumentText[] = [];
  const decoder = new TextDecoder();
  for (const part of parts) {
    texts.push(...(JSON.parse(decoder.decode(part)) as DocumentText[]));
    await nextTurn();
  }
  return texts;
}

async function answerOf(thread: Worker, timeMs: number): Promise<FromDocumentWorker> {
  const { promise, resolve } = Promise.withResolvers<FromDocumentWorker>();
  const refuse = (reason: string): void => resolve({ kind: 'refused', reason });
  let timer: NodeJS.Timeout | undefined;
  thread.once('online', () => {
    timer = setTimeout(() => refuse(`reading the file takes longer than ${timeMs / 1000} seconds`), timeMs);
  });
  thread.on('error', ({ name, code }: Error & { readonly code?: string }) => {
    if (code === 'ERR_WORKER_OUT_OF_MEMORY') refuse('the file needs too much memory to be read');
    else resolve({ kind: 'fault', error: `the thread has failed: ${name} ${code ?? ''}` });
  });
  thread.on('exit', () => resolve({ kind: 'fault', error: 'the thread has ended' }));
  thread.on('message', resolve);
  const answer = await promise;
  clearTimeout(timer);
  return answer;
}
