// The bench's own load generator: its numbers must be right, or it measures nothing.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ClosedLoad } from '../../../bench/load/closed-load.ts';
import { Histogram } from '../../../bench/load/histogram.ts';
import { LoadConnection } from '../../../bench/load/load-connection.ts';
import type { OnAnswer } from '../../../bench/load/load-connection.ts';
import type { Expected, LoadResult } from '../../../bench/load/load-job.ts';
import { openLoad } from '../../../bench/load/open-load.ts';

const REQUEST = Buffer.from('POST / HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n\r\n');
const RIGHT: Expected = { status: 200, body: 'right' };
const STALL_MS = 400;

let server: Server | undefined;
let connections: LoadConnection[] = [];
let onAnswer: OnAnswer = () => undefined;

afterEach(() => {
  for (const connection of connections) connection.leave();
  connections = [];
  server?.closeAllConnections();
  server?.close();
});

async function connectTo(handle: (index: number, answer: (body: string) => void) => void, count: number): Promise<void> {
  let index = 0;
  server = createServer((_request, response) => handle(index++, (body) => response.end(body))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = () => LoadConnection.open(port, RIGHT, (connection, fault) => onAnswer(connection, fault));
  connections = await Promise.all(Array.from({ length: count }, open));
}

function closed(durationMs: number): Promise<LoadResult> {
  const load = new ClosedLoad(connections, [REQUEST]);
  onAnswer = load.onAnswer;
  return load.run(durationMs);
}

function summaryOf({ latencies }: LoadResult) {
  const histogram = new Histogram();
  histogram.add(latencies);
  return histogram.summary();
}

test('quantiles are exact to one percent over six orders of magnitude', () => {
  const values = Array.from({ length: 10_000 }, (_, index) => 0.01 * 1.0014 ** index);
  const histogram = new Histogram();
  for (const value of values) histogram.recordMs(value);
  for (const share of [0.01, 0.5, 0.9, 0.99, 0.999, 1]) {
    const exact = values[Math.ceil(values.length * share) - 1]!;
    expect(Math.abs(histogram.quantileMs(share) / exact - 1)).toBeLessThan(0.01 + 0.0005 / exact);
  }
});

test('merged histograms equal the histogram of all values', () => {
  const [all, first, second, merged] = [new Histogram(), new Histogram(), new Histogram(), new Histogram()];
  for (let ms = 0; ms < 500; ms++) {
    all.recordMs(ms);
    (ms % 2 === 0 ? first : second).recordMs(ms);
  }
  merged.add(first.pack());
  merged.add(second.pack());
  expect(merged.total).toBe(all.total);
  expect(merged.summary()).toEqual(all.summary());
});

test('every right answer is counted once, and none is lost', async () => {
  let answered = 0;
  await connectTo((_index, answer) => {
    answered++;
    answer('right');
  }, 4);
  const result = await closed(200);
  expect(result.faults).toBe(0);
  expect(result.answers).toBeGreaterThan(10);
  expect(result.answers).toBe(answered);
});

test('a wrong answer is a fault, never a measurement', async () => {
  let wrong = 0;
  await connectTo((index, answer) => {
    if (index % 10 === 0) wrong++;
    answer(index % 10 === 0 ? 'wrong' : 'right');
  }, 4);
  const result = await closed(200);
  expect(result.faults).toBe(wrong);
  expect(result.fault).toContain('wrong');
});

test('at a steady rate a stall counts in the latency of every request that had to wait', async () => {
  // One connection: until its answer arrives, no other request can even be sent.
  await connectTo((index, answer) => {
    if (index === 50) setTimeout(() => answer('right'), STALL_MS);
    else answer('right');
  }, 1);
  const beforeMs = performance.now();
  const load = openLoad(connections, [REQUEST], 500, 1000);
  const aroundMs = performance.now() - beforeMs;
  /** From when each fell due to its answer, in order, because they share one connection. */
  const waitsMs: number[] = [];
  onAnswer = (connection, fault) => {
    waitsMs.push(performance.now() - beforeMs - 2 * waitsMs.length);
    load.onAnswer(connection, fault);
  };
  const result = await load.done;
  expect(result.answers).toBe(500);
  // About 200 of 500 fell due during the stall and waited 200 ms on average.
  const { p50Ms, p99Ms } = summaryOf(result);
  expect(p99Ms).toBeGreaterThan(STALL_MS * 0.9);
  // The others waited no longer than the machine made them, which on a busy one is not short.
  waitsMs.sort((a, b) => a - b);
  expect(p50Ms).toBeGreaterThan(0.98 * (waitsMs[240]! - aroundMs));
  expect(p50Ms).toBeLessThan(1.02 * waitsMs[260]! + 1);
  const histogram = new Histogram();
  histogram.add(result.latencies);
  expect(histogram.quantileMs(0.8)).toBeGreaterThan(STALL_MS * 0.3);
});
