// The long soak: `node test/evidence/load/soak.ts --minutes N [--store sqlite|redis]`. One line per round, then the verdict; status 1 if something grew.
import { parseArgs } from 'node:util';
import { heapPerMinute, soak } from './soak-run.ts';
import type { Look } from './soak-run.ts';
import { report } from '../scorecard/report.ts';

const MIB = 1024 * 1024;
const ROUND = 20_000;
const MINUTE_MS = 60_000;
/** In 100,000 requests the heap grows by a megabyte of compiled code and caches, and in 400,000 more by a third of one. */
const WARM_UP_ROUNDS = 6;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, store: { type: 'string', default: 'sqlite' } } });
const durationMs = Number(values.minutes) * MINUTE_MS;
const store = values.store === 'redis' ? 'redis' : 'sqlite';

const looks = await soak({
  store,
  warmUpRounds: WARM_UP_ROUNDS,
  roundRequests: ROUND,
  goesOn(sofar) {
    say(lineOf(sofar.at(-1)!));
    return performance.now() - sofar[0]!.atMs < durationMs || sofar.length < 3;
  },
});
const [first, last] = [looks[0]!, looks.at(-1)!];
const mibPerMinute = heapPerMinute(looks) / MIB;
const grown: string[] = [];
if (mibPerMinute >= 1) grown.push('heap');
if (Math.abs(last.descriptors - first.descriptors) > 5) grown.push('descriptors');
if (last.timers - first.timers > 2) grown.push('timers');
if (last.keys > first.keys) grown.push('Redis keys');
const minutes = ((last.atMs - first.atMs) / MINUTE_MS).toFixed(1);
const measured =
  `heap ${signed(mibPerMinute, 3)} MB/min after full collections, RSS ${signed((last.residentBytes - first.residentBytes) / MIB, 1)} MB, ` +
  `descriptors ${signed(last.descriptors - first.descriptors)}, timers ${signed(last.timers - first.timers)}, Redis keys ${signed(last.keys - first.keys)}`;
const figure = `${last.requests} requests of nine kinds in ${minutes} min on ${store}`;
say(`${figure}: ${measured}; ${grown.length === 0 ? 'nothing grew' : `GREW: ${grown.join(', ')}`}`);
report({ row: 23, figure, measured, met: grown.length === 0 });
process.exitCode = grown.length === 0 ? 0 : 1;

function lineOf({ requests, heapBytes, residentBytes, descriptors, timers, keys }: Look): string {
  return `${requests} requests, heap ${(heapBytes / MIB).toFixed(2)} MB, RSS ${(residentBytes / MIB).toFixed(0)} MB, ${descriptors} descriptors, ${timers} timers, ${keys} keys`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function signed(change: number, digits = 0): string {
  return `${change < 0 ? '' : '+'}${change.toFixed(digits)}`;
}
