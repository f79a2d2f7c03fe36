// A thread in the place of the one that reads documents: what it does depends on the first letter of the file.
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';

const held = [];
const letter = String.fromCharCode(workerData.bytes[0]);
if (letter === 'h') for (;;);
if (letter === 'm') for (;;) held.push(Array.from({ length: 100_000 }, (_, index) => ({ index })));
if (letter === 'e') process.exit(1);
if (letter === 't') throw new Error('a secret of the file');
const piece = new TextEncoder().encode(JSON.stringify([{ text: letter, format: 'text' }]));
parentPort.postMessage({ kind: 'texts', parts: [piece] }, []);
