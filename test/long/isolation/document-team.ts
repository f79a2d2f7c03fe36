// A thread in which a team sends documents, one after the other and several at a time, so that a gateway always has some to work on.
import { parentPort } from 'node:worker_threads';
import { DocumentCaller } from '../../support/document-caller.ts';
import { wordSample } from '../../support/documents/office-samples.ts';

export interface DocumentOrder {
  readonly port: number;
  readonly key: string;
  readonly seconds: number;
}

export interface DocumentReport {
  /** Translated, downloaded and deleted. */
  readonly documents: number;
}

/** More than a gateway works on at a time. */
const PARALLEL = 6;
const PAUSE_MS = 100;
const LINES = 300;
const FILES = [
  { fileName: 'a.docx', file: wordSample(1).bytes },
  { fileName: 'a.txt', file: Array.from({ length: LINES }, (_, n) => `Line ${n} of a text of some length, with words.\n`).join('\n') },
  {
    fileName: 'a.srt',
    file: Array.from({ length: LINES }, (_, n) => `${n + 1}\n00:00:01,000 --> 00:00:02,000\nMessage ${n}, which is translated\n`).join(
      '\n',
    ),
  },
];

parentPort!.on('message', (order: DocumentOrder) => void send(order).then(tell));

function tell(report: DocumentReport): void {
  // A thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(report);
}

/** Resolves when the last document is gone. */
async function send({ port, key, seconds }: DocumentOrder): Promise<DocumentReport> {
  const caller = new DocumentCaller(port, key);
  const endMs = performance.now() + 1000 * seconds;
  let documents = 0;
  const one = async (first: number): Promise<void> => {
    for (let n = first; performance.now() < endMs; n++) {
      const id = await caller.uploaded(FILES[n % FILES.length]!);
      while (!(await caller.state(id)).body.includes('"done"')) await pause();
      const { status } = await caller.result(id);
      if (status !== 200) throw new Error(`a document's download ended with ${status}`);
      await caller.remove(id);
      documents++;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, n) => one(n)));
  return { documents };
}

function pause(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, PAUSE_MS));
}
