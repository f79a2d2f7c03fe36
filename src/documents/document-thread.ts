// The thread of one file: takes its texts out, or builds it with their translations.
import { getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { buildFile, extractTexts } from './read-and-build.ts';
import { jsonParts } from './create-document-formats.ts';
import type { FromDocumentWorker, ReadingOrder } from './create-document-formats.ts';

/** A tenth of the weight of the event loop, if they compete. */
const PRIORITY = 10;

lowerPriority();
const answer = answerTo(workerData as ReadingOrder);
// What is transferred is not copied at the gateway.
const sent = answer.kind === 'built' ? [answer.bytes] : answer.kind === 'texts' ? answer.parts : [];
parentPort!.postMessage(
  answer,
  sent.map(({ buffer }) => buffer as ArrayBuffer),
);

function answerTo({ format, bytes, translations, targetLang }: ReadingOrder): FromDocumentWorker {
  try {
    if (translations === undefined) {
      const found = extractTexts(format, bytes);
      return found.kind === 'refused' ? found : { kind: 'texts', parts: [...jsonParts(found.texts, ({ text }) => text.length)] };
    }
    const decoder = new TextDecoder();
    const given = translations.flatMap((part) => JSON.parse(decoder.decode(part)) as string[]);
    const built = buildFile(format, bytes, given, targetLang);
    // In a buffer of its own.
    return built.kind === 'refused' ? built : { kind: 'built', bytes: new Uint8Array(built.bytes) };
  } catch (error) {
    return { kind: 'fault', error: wordsOf(error) };
  }
}

/**
 * The event loop goes first: each message that it gets may cost it the processor. Only on Linux,
 * where `0` is the calling thread; elsewhere it is the process.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  try {
    if (getPriority() < PRIORITY) setPriority(PRIORITY);
  } catch {
    // A sandbox may forbid it; documents are read all the same.
  }
}

/** Where it happened, without its message: that may quote the file. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return 'not an error';
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '));
  return [error.name, ...frames.slice(0, 5).map((line) => line.trim())].join(' ');
}
