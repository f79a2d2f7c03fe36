// The rows of the scorecard: their subjects, their targets, and the commands that measure them, by size.
import { SIZE_VARIABLE } from './size.ts';
import type { Size } from './size.ts';

/** A test file for vitest, of which `names` chooses tests, or a program for node with its arguments. */
export type Command = { readonly env?: Readonly<Record<string, string>> } & (
  | { readonly tests: string; readonly names?: string }
  | { readonly program: readonly string[] }
);

export interface Row {
  readonly row: number;
  readonly what: string;
  readonly target: string;
  /** Run in sequence. */
  readonly commands: readonly Command[];
}

const tests = (file: string, names?: string): Command => ({ tests: `test/${file}${file.endsWith('.long.ts') ? '' : '.test.ts'}`, names });
const program = (...args: readonly string[]): Command => ({ program: args });

export function rowsOf(size: Size): readonly Row[] {
  const by = (short: number, card: number, nightly: number): string => String({ short, card, nightly }[size]);
  const soak = (store: string): Command => program('test/evidence/load/soak.ts', '--minutes', by(0.1, 0.8, 10), '--store', store);
  const rows: readonly (readonly [what: string, target: string, ...commands: readonly Command[]])[] = [
    ['Accounting equality without faults', 'difference 0; L1 to L5 hold per id', tests('evidence/faults/accounting')],
    [
      'Gateway crash',
      '0 charged failures; at most what was in flight uncharged; held 0 one lease later',
      tests('evidence/faults/gateway-crash'),
    ],
    [
      'Redis crash',
      '0 acknowledged lost; only 503 with Retry-After 5; first 200 within 1 s of the restart',
      tests('evidence/faults/redis-away', 'because it was killed'),
    ],
    [
      'Redis freeze',
      'every answer within its deadline + 50 ms; late executions leave 0 held, 0 charged',
      tests('evidence/faults/redis-away', 'because it is frozen'),
    ],
    ['Lost replies', 'runs per id at most 1', tests('unit/stores/redis/failure', 'a lost reply')],
    [
      'Cluster failover',
      'outage at most 3 s; other masters 0 errors; 0 double; 0 lost with min-replicas, the loss without it told',
      tests('evidence/faults/cluster-failover'),
    ],
    ['Limiter exactness', '0 violations in either direction in 50,000', tests('evidence/faults/limiter', 'admit exactly')],
    [
      'Revocation and rotation',
      '0 accepted after the reply; the overlap of two keys loses 0',
      tests('evidence/faults/limiter', 'refuse a revoked key'),
    ],
    [
      'Model test',
      '0 divergences of model, SQLite and Redis in 50,000 commands of 1,000 histories',
      { ...tests('unit/stores/equality'), env: { LINGATE_PROPERTY_RUNS: by(100, 1200, 20_000) } },
    ],
    [
      'Simulation',
      '0 violations in 10,000 seeds; every seed replays to the byte',
      { ...tests('evidence/simulation/simulation'), env: { LINGATE_SIMULATION_SEEDS: by(500, 10_000, 200_000) } },
    ],
    [
      'Test power',
      'every wrong port and every edit of Lua and SQL noticed',
      { ...program('test/evidence/power/run.ts'), env: { [SIZE_VARIABLE]: 'short' } },
    ],
    ['HTTP table', '150 cases on both listeners, all of the expected class; 0 crashes; deviations listed by number', tests('http/table')],
    [
      'Smuggling',
      '0 hidden requests handled and 0 wrong canaries of 60 payloads, directly and behind two fronts',
      tests('evidence/http-table/smuggling'),
    ],
    [
      'Fragmentation',
      'the same answer wherever the cut is, but for known places in the request line',
      tests('evidence/http-table/fragments'),
    ],
    ['JSON corpus', '188 n refused, 95 y never called malformed, 40 cases of bytes; 0 5xx', tests('evidence/input/json')],
    [
      'Naughty strings',
      '500 strings in 8 places: byte-exact to the engine, charged by code points, 0 5xx, 0 reflected',
      tests('evidence/input/nasty-strings'),
    ],
    ['Fuzz', '0 crashes, 0 5xx, 0 hangs beyond a deadline', tests('evidence/input/fuzz')],
    [
      'Slow clients',
      '2,000 connections gone within 15 s; p99 of good traffic at most 2 times baseline; RSS, with a fixed malloc threshold: after a forced collection at most the unread answers + 30 MB, before it at most five copies of them more',
      tests('load/slow-clients'),
    ],
    ['Abort storm', '0 crashes, every id final, no failure charged, in 10,000 requests', tests('evidence/load/abort-storm')],
    [
      'Engine faults',
      "exactly 2 attempts, then 503 with Retry-After 5; engine's words in 0 answers, nothing charged",
      tests('evidence/journey/engine-fallback'),
    ],
    [
      'Overload',
      'goodput at least 90 % of peak; p99 of accepted at most 5 times idle; event loop p99 below 50 ms; queue bounded; recovers within 2 s',
      tests('load/overload'),
    ],
    ['Drain', '0 failed requests in 20 SIGTERMs under load, exit 0', tests('evidence/drain/restarts')],
    ['Soak', 'heap below +1 MB/min, descriptors within 5, timers and Redis keys back to the start', soak('sqlite'), soak('redis')],
    ['Secrets', '0 hits but for the first twelve characters of a key', tests('evidence/journey/secrets')],
    [
      'SQLite power cut',
      'always a prefix of the commits, whole; 0 acknowledged lost with FULL; on EIO 503, never a wrong balance',
      tests('evidence/faults/sqlite-power-cut'),
      tests('evidence/faults/sqlite-system-calls.long.ts'),
    ],
  ];
  return rows.map(([what, target, ...commands], index) => ({ row: index + 1, what, target, commands }));
}
