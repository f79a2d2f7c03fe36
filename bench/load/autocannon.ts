// A closed loop by autocannon, by the job in a file; prints what it saw.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import autocannon from 'autocannon';
import type { Loaded, LoadJob } from './load.ts';

const job = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LoadJob;
const { port, path, connections, authorizations, body, expected, seconds } = job;
let [right, wrong, fault] = [0, 0, ''];
const requests = authorizations.map((authorization) => ({
  method: 'POST' as const,
  path,
  body,
  headers: { 'content-type': 'application/json', ...(authorization === '' ? {} : { authorization }) },
  onResponse(status: number, received: string) {
    if (expected.statuses.includes(status) && (expected.body === undefined || received === expected.body)) right++;
    else {
      wrong++;
      fault ||= `${status} ${received.slice(0, 300)}`;
    }
  },
}));
const result = await autocannon({ url: `http://127.0.0.1:${port}`, connections, duration: seconds, requests });
const { p50: p50Ms, p99: p99Ms } = result.latency;
const loaded: Loaded = { answers: right, faults: wrong + result.errors, fault, elapsedMs: result.duration * 1000, p50Ms, p99Ms };
console.log(JSON.stringify(loaded));
