// A thread with the engine and the noisy team, so that neither slows the measurement.
import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';
import { performance } from 'node:perf_hooks';
import type { NoisyRequest } from './operations.ts';

export interface NoisyOrder {
  readonly port: number;
  readonly perSecond: number;
  readonly seconds: number;
  /** In turn. */
  readonly requests: readonly NoisyRequest[];
}

export interface NoisyReport {
  readonly statuses: Readonly<Record<string, number>>;
}

const TICK_MS = 5;
const MS_PER_SECOND = 1000;
/** Of an engine's request: enough to count the texts of everything but a large dictionary, which has one. */
const READ_BYTES = 2_000_000;

const server = createServer(answer);
server.listen(0, '127.0.0.1', () => tell({ enginePort: (server.address() as AddressInfo).port }));
parentPort!.on('message', (order: NoisyOrder) => void disturb(order).then(tell));

function tell(message: object): void {
  // A thread has no origin.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  parentPort!.postMessage(message);
}

/** The native protocol; anything but a translation gets a document of 4 MiB, like another service of the engine's. */
function answer(asked: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  asked.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= READ_BYTES) pieces.push(piece);
  });
  asked.on('end', () => {
    response.setHeader('x-request-id', asked.headers['x-request-id'] ?? '');
    if (asked.url !== '/translate') return void response.end(Buffer.alloc(4 * 1_048_576, 'x'));
    const texts = bytes > READ_BYTES ? 1 : (JSON.parse(Buffer.concat(pieces).toString()) as { text: string[] }).text.length;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ translations: Array.from({ length: texts }, () => ({ text: 'Übersetzung' })) }));
  });
}

/** At its rate, regardless of the answers, which are read and discarded. */
async function disturb({ port, perSecond, seconds, requests }: NoisyOrder): Promise<NoisyReport> {
  const statuses: Record<string, number> = {};
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const running: Promise<void>[] = [];
  const total = Math.round(perSecond * seconds);
  const startedAtMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - startedAtMs) / MS_PER_SECOND) * perSecond));
      while (running.length < due) running.push(one(agent, port, requests[running.length % requests.length]!, statuses));
      if (running.length < total && performance.now() - startedAtMs < seconds * MS_PER_SECOND) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  // Requests in flight at the end count, but are not waited for.
  agent.destroy();
  await Promise.all(running);
  return { statuses };
}

function one(agent: Agent, port: number, { method, path, headers, body }: NoisyRequest, statuses: Record<string, number>): Promise<void> {
  return new Promise((resolve) => {
    const count = (word: string): void => {
      statuses[word] = (statuses[word] ?? 0) + 1;
      resolve();
    };
    const call = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      response.on('data', () => undefined);
      response.on('end', () => count(String(response.statusCode)));
      response.on('error', () => count('cut'));
    });
    call.on('error', () => count('cut'));
    call.end(body);
  });
}
