// The thread of one file: takes its texts out, or builds it with their translations.
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { buildFile, extractTexts } from './read-and-build.ts';
import { batchEnd } from './create-document-formats.ts';
import type { FromDocumentWorker, ReadingOrder } from './create-document-formats.ts';

/** A tenth of the weight of the event loop, if they compete. */
const PRIORITY = 10;

const port = parentPort!;
const order = workerData as ReadingOrder;
lowerPriority();
try {
  await (order.translations === undefined ? extract() : build(order.translations));
} catch (error) {
  send({ kind: 'fault', error: wordsOf(error) });
}

async function extract(): Promise<void> {
  const found = extractTexts(order.format, order.bytes);
  if (found.kind === 'refused') return send(found);
  const { texts } = found;
  for (let at = 0; ;) {
    const to = batchEnd(texts, at, ({ text }) => text.length);
    const isLast = to === texts.length;
    send({ kind: 'texts', batch: texts.slice(at, to), isLast });
    if (isLast) return;
    at = to;
    await once(port, 'message');
  }
}

async function build(count: number): Promise<void> {
  const given: string[] = [];
  while (given.length < count) {
    send({ kind: 'more' });
    const [[batch]] = [(await once(port, 'message')) as [string[]]];
    given.push(...batch);
  }
  const built = buildFile(order.format, order.bytes, given, order.targetLang);
  if (built.kind === 'refused') return send(built);
  // In a buffer of its own, which goes to the gateway without being copied there.
  const own = new Uint8Array(built.bytes);
  port.postMessage({ kind: 'built', bytes: own } satisfies FromDocumentWorker, [own.buffer]);
}

/**
 * The event loop goes first: otherwise this thread may take the processor from it with each message that it sends there. Only on
 * Linux, where `0` is the calling thread; elsewhere it is the whole process.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    if (getPriority() < PRIORITY) setPriority(PRIORITY);
  } catch {
    // A sandbox may forbid it; documents are read all the same.
  }
}

function send(message: FromDocumentWorker): void {
  port.postMessage(message);
}

/** Where it happened, without its message: that may quote the file. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'not an error';
  const places = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return [error.name, ...places.slice(0, 5).map((line) => line.trim())].join(' ');
}
