// The long soak: `node test/load/soak.ts --minutes N [--store sqlite|redis]`. One line per round, then the verdict; status 1 when something grew.
import { parseArgs } from 'node:util';
import { heapPerMinute, soak } from './soak-run.ts';
import type { Look } from './soak-run.ts';

const MIB = 1024 * 1024;
const ROUND = 20_000;
const MINUTE_MS = 60_000;

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, store: { type: 'string', default: 'sqlite' } } });
const endMs = performance.now() + Number(values.minutes) * MINUTE_MS;
const store = values.store === 'redis' ? 'redis' : 'sqlite';

const looks = await soak({
  store,
  warmUpRounds: 1,
  roundRequests: ROUND,
  goesOn(sofar) {
    say(lineOf(sofar.at(-1)!));
    return performance.now() < endMs || sofar.length < 3;
  },
});
const [first, last] = [looks[0]!, looks.at(-1)!];
const mibPerMinute = heapPerMinute(looks) / MIB;
const grown: string[] = [];
if (mibPerMinute >= 1) grown.push('heap');
if (Math.abs(last.descriptors - first.descriptors) > 5) grown.push('descriptors');
if (last.timers - first.timers > 2) grown.push('timers');
if (last.keys > first.keys) grown.push('Redis keys');
say(
  `${store}: ${last.requests} requests in ${((last.atMs - first.atMs) / MINUTE_MS).toFixed(1)} minutes: heap ${mibPerMinute.toFixed(3)} MB/min, ` +
    `RSS ${((last.residentBytes - first.residentBytes) / MIB).toFixed(1)} MB, descriptors ${last.descriptors - first.descriptors}, ` +
    `timers ${last.timers - first.timers}, Redis keys ${last.keys - first.keys}; ${grown.length === 0 ? 'nothing grew' : `GREW: ${grown.join(', ')}`}`,
);
process.exitCode = grown.length === 0 ? 0 : 1;

function lineOf({ requests, heapBytes, residentBytes, descriptors, timers, keys }: Look): string {
  return `${requests} requests, heap ${(heapBytes / MIB).toFixed(2)} MB, RSS ${(residentBytes / MIB).toFixed(0)} MB, ${descriptors} descriptors, ${timers} timers, ${keys} keys`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
