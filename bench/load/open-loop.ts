// Requests fall due at a steady rate, by the job in a file; latency counts from then, so a stall counts for every request behind it.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createHistogram } from 'node:perf_hooks';
import process from 'node:process';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import type { Loaded, LoadJob } from './load.ts';

/** Node's own timers have a resolution of a millisecond: a thread sleeps instead. */
const BEAT_MS = 0.2;
/** If nothing is answered for this long, nothing more will be. */
const PATIENCE_MS = 10_000;
const NS_PER_MS = 1e6;

if (isMainThread) console.log(JSON.stringify(await run(JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LoadJob)));
else beat(workerData as Int32Array);

async function run(job: LoadJob): Promise<Loaded> {
  const { port, path, connections, authorizations, body, expected, seconds, perSecond } = job;
  const requests = authorizations.map((authorization) => {
    const credentials = authorization === '' ? '' : `Authorization: ${authorization}\r\n`;
    const fields = `Host: 127.0.0.1\r\n${credentials}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return Buffer.from(`POST ${path} HTTP/1.1\r\n${fields}\r\n${body}`);
  });
  const latencies = createHistogram();
  const total = Math.round(perSecond * seconds);
  const free: Socket[] = [];
  const dueMs = new Map<Socket, number>();
  const startMs = performance.now() + 200;
  let [sent, ended, faults, fault, answeredMs] = [0, 0, 0, '', startMs + seconds * 1000];

  const nextDue = (): number => startMs + (sent * 1000) / perSecond;
  const sendDue = (): void => {
    for (let due = nextDue(); free.length > 0 && sent < total && due <= performance.now(); due = nextDue()) {
      const socket = free.pop()!;
      dueMs.set(socket, due);
      socket.write(requests[sent++ % requests.length]!);
    }
  };

  const answered = (socket: Socket, text: string): void => {
    const now = performance.now();
    const isRight = expected.statuses.some((status) => text.startsWith(`HTTP/1.1 ${status} `));
    if (isRight && (expected.body === undefined || text.endsWith(`\r\n\r\n${expected.body}`))) {
      latencies.record(Math.max(1, Math.round((now - dueMs.get(socket)!) * NS_PER_MS)));
    } else {
      faults++;
      fault ||= text.slice(0, 300);
    }
    ended++;
    answeredMs = Math.max(answeredMs, now);
    free.push(socket);
    sendDue();
  };
  for (let i = 0; i < connections; i++) {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
      const headEnd = text.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]);
      if (headEnd === -1 || text.length < headEnd + 4 + length) return;
      answered(socket, text);
      text = '';
    });
    // A connection that breaks is missed: its request has no answer.
    socket.on('error', () => undefined).once('connect', () => free.push(socket));
  }

  const beats = new Int32Array(new SharedArrayBuffer(4));
  const beating = new Worker(new URL(import.meta.url), { workerData: beats });
  const isWaiting = (): boolean => ended < total && performance.now() < answeredMs + PATIENCE_MS;
  while (isWaiting()) {
    const seen = Atomics.load(beats, 0);
    sendDue();
    await Atomics.waitAsync(beats, 0, seen).value;
  }
  await beating.terminate();
  for (const socket of dueMs.keys()) socket.destroy();
  for (const socket of free) socket.destroy();
  const [p50Ms, p99Ms] = [50, 99].map((share) => latencies.percentile(share) / NS_PER_MS) as [number, number];
  const elapsedMs = performance.now() - startMs;
  return {
    answers: latencies.count,
    faults: faults + total - ended,
    fault: fault || (ended < total ? 'no answer' : ''),
    elapsedMs,
    p50Ms,
    p99Ms,
  };
}

function beat(beats: Int32Array): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    Atomics.wait(never, 0, 0, BEAT_MS);
    Atomics.add(beats, 0, 1);
    Atomics.notify(beats, 0);
  }
}
