// A thread in the place of the one that parses documents: what it does depends on the first letter of the file.
import process from 'node:process';
import { parentPort, threadId } from 'node:worker_threads';

const held = [];

parentPort.on('message', ({ kind, bytes }) => {
  if (kind !== 'extract') return;
  const letter = String.fromCharCode(bytes[0]);
  if (letter === 'h') for (;;);
  if (letter === 'm') for (;;) held.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
  if (letter === 'e') process.exit(1);
  if (letter === 't') throw new Error('a secret of the file');
  const text = letter === 'n' ? String(threadId) : letter;
  parentPort.postMessage({ kind: 'texts', batch: [{ text, format: 'text' }], isLast: true }, []);
});
parentPort.postMessage({ kind: 'ready' }, []);
