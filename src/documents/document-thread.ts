// The thread that parses and builds documents: one file at a time.
import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { DocumentText } from '../ports/document-formats.ts';
import { buildFile, extractTexts } from './read-and-build.ts';
import type { FromDocumentWorker, ToDocumentWorker } from './worker-messages.ts';
import { batchEnd } from './worker-messages.ts';

type Building = Extract<ToDocumentWorker, { readonly kind: 'build' }> & { readonly given: string[] };

/** A tenth of the weight of the event loop, if they compete. */
const PRIORITY = 10;

const port = parentPort!;
let texts: readonly DocumentText[] = [];
let sent = 0;
let building: Building | undefined;

port.on('message', (message: ToDocumentWorker) => {
  // Never rejects: what is thrown is told.
  void handle(message).catch((error: unknown) => send({ kind: 'fault', error: wordsOf(error) }));
});
lowerPriority();
send({ kind: 'ready' });

async function handle(message: ToDocumentWorker): Promise<void> {
  switch (message.kind) {
    case 'extract': {
      const found = await extractTexts(message.format, message.bytes);
      if (found.kind === 'refused') {
        send(found);
      } else {
        [texts, sent] = [found.texts, 0];
        sendBatch();
      }
      return;
    }
    case 'more':
      sendBatch();
      return;
    case 'build':
      building = { ...message, given: [] };
      await buildIfComplete(building);
      return;
    case 'translations':
      building!.given.push(...message.batch);
      await buildIfComplete(building!);
      return;
  }
}

function sendBatch(): void {
  const to = batchEnd(texts, sent, ({ text }) => text.length);
  const isLast = to === texts.length;
  send({ kind: 'texts', batch: texts.slice(sent, to), isLast });
  sent = to;
  if (isLast) texts = [];
}

async function buildIfComplete({ format, bytes, translations, targetLang, given }: Building): Promise<void> {
  if (given.length < translations) return;
  building = undefined;
  const built = await buildFile(format, bytes, given, targetLang);
  if (built.kind === 'refused') {
    send(built);
    return;
  }
  // In a buffer of its own, which goes to the gateway without being copied there.
  const own = new Uint8Array(built.bytes);
  port.postMessage({ kind: 'built', bytes: own } satisfies FromDocumentWorker, [own.buffer]);
}

/**
 * The event loop goes first: otherwise this thread may take the processor from it with each message that it sends here. Only on Linux,
 * where `0` is the calling thread; elsewhere it is the whole process.
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
