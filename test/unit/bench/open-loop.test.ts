// The bench's load at a steady rate: a wrong answer is no measurement, and a stall is in the latency of all that waited behind it.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Loaded, LoadJob } from '../../../bench/load/load.ts';
import { outputOf } from '../../support/start-program.ts';

const PROGRAM = fileURLToPath(new URL('../../../bench/load/open-loop.ts', import.meta.url));
const STALL_MS = 400;

let folder = '';
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-open-loop-'));
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(folder, { recursive: true });
});

async function loadOn(answer: (index: number, end: (body: string) => void) => void): Promise<Loaded> {
  let index = 0;
  server = createServer((_request, response) => answer(index++, (body) => response.end(body))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // One connection: until its answer arrives, no other request can be sent.
  const target = { port, path: '/', connections: 1, authorizations: ['Bearer a', ''], body: '{}' };
  const job: LoadJob = { ...target, expected: { statuses: [200], body: 'right' }, seconds: 1, perSecond: 200 };
  const file = join(folder, 'job.json');
  writeFileSync(file, JSON.stringify(job));
  return JSON.parse(await outputOf('node', ['--disable-warning=ExperimentalWarning', PROGRAM, file])) as Loaded;
}

test('every right answer is counted once, and a wrong one is a fault', async () => {
  const loaded = await loadOn((index, end) => end(index % 10 === 3 ? 'wrong' : 'right'));
  expect(loaded).toMatchObject({ answers: 180, faults: 20 });
  expect(loaded.fault).toContain('wrong');
});

test('a stall counts for every request that fell due behind it', async () => {
  const loaded = await loadOn((index, end) => {
    if (index === 50) setTimeout(() => end('right'), STALL_MS);
    else end('right');
  });
  expect(loaded).toMatchObject({ answers: 200, faults: 0 });
  // Two in five waited, 200 ms on average: it would be one in two hundred if latency counted from the sending.
  expect(loaded.p99Ms).toBeGreaterThan(STALL_MS * 0.9);
});
