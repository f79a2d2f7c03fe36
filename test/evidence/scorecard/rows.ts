// The rows of the scorecard: their subjects, their targets, and the commands that measure them, by size.
import { SIZE_VARIABLE } from './size.ts';
import type { Size } from './size.ts';

/** A test file for vitest, of which `names` chooses tests, or a program for node with its arguments. */
export type Command = { readonly tests: string; readonly names?: string } | { readonly program: readonly string[] };

export interface Row {
  readonly row: number;
  readonly what: string;
  readonly target: string;
  /** Run in sequence. */
  readonly commands: readonly Command[];
  readonly env?: Readonly<Record<string, string>>;
}

const tests = (file: string, names?: string): Command => ({ tests: `test/${file}`, names });
const program = (...args: readonly string[]): Command => ({ program: args });

export function rowsOf(size: Size): readonly Row[] {
  const by = (short: number, card: number, nightly: number): string => String({ short, card, nightly }[size]);
  const soak = (store: string): Command => program('test/evidence/load/soak.ts', '--minutes', by(0.1, 0.8, 10), '--store', store);
  const rows: readonly Omit<Row, 'row'>[] = [
    {
      what: 'Accounting equality without faults',
      target: 'difference 0; L1 to L5 hold per id',
      commands: [tests('evidence/faults/accounting.test.ts')],
    },
    {
      what: 'Gateway crash',
      target: '0 charged failures; at most what was in flight uncharged; held 0 one lease later',
      commands: [tests('evidence/faults/gateway-crash.test.ts')],
    },
    {
      what: 'Redis crash',
      target: '0 acknowledged lost; only 503 with Retry-After 5; first 200 within 1 s of the restart',
      commands: [tests('evidence/faults/redis-away.test.ts', 'because it was killed')],
    },
    {
      what: 'Redis freeze',
      target: 'every answer within its deadline + 50 ms; late executions leave 0 held, 0 charged',
      commands: [tests('evidence/faults/redis-away.test.ts', 'because it is frozen')],
    },
    { what: 'Lost replies', target: 'runs per id at most 1', commands: [tests('evidence/faults/lost-replies.test.ts')] },
    {
      what: 'Cluster failover',
      target: 'outage at most 3 s; other masters 0 errors; 0 double; 0 lost with min-replicas, the loss without it told',
      commands: [tests('evidence/faults/cluster-failover.test.ts')],
    },
    {
      what: 'Limiter exactness',
      target: '0 violations in either direction in 50,000',
      commands: [tests('evidence/faults/limiter.test.ts', 'admit exactly')],
    },
    {
      what: 'Revocation and rotation',
      target: '0 accepted after the reply; the overlap of two keys loses 0',
      commands: [tests('evidence/faults/limiter.test.ts', 'refuse a revoked key')],
    },
    {
      what: 'Model test',
      target: '0 divergences of model, SQLite and Redis in 50,000 commands of 1,000 histories',
      commands: [tests('unit/stores/equality.test.ts')],
      env: { LINGATE_PROPERTY_RUNS: by(100, 1200, 20_000) },
    },
    {
      what: 'Simulation',
      target: '0 violations in 10,000 seeds; every seed replays to the byte',
      commands: [tests('evidence/simulation/simulation.test.ts')],
      env: { LINGATE_SIMULATION_SEEDS: by(500, 10_000, 200_000) },
    },
    {
      what: 'Test power',
      target: 'every wrong port and every edit of Lua and SQL noticed',
      commands: [program('test/evidence/power/run.ts')],
      env: { [SIZE_VARIABLE]: 'short' },
    },
    {
      what: 'HTTP table',
      target: '150 cases on both listeners, all of the expected class; 0 crashes; deviations listed by number',
      commands: [tests('http/table.test.ts')],
    },
    {
      what: 'Smuggling',
      target: '0 hidden requests handled and 0 wrong canaries of 60 payloads, directly and behind two fronts',
      commands: [tests('evidence/http-table/smuggling.test.ts')],
    },
    {
      what: 'Fragmentation',
      target: 'the same answer wherever the cut is, but for known places in the request line',
      commands: [tests('evidence/http-table/fragments.test.ts')],
    },
    {
      what: 'JSON corpus',
      target: '188 n refused, 95 y never called malformed, 40 cases of bytes; 0 5xx',
      commands: [tests('evidence/input/json.test.ts')],
    },
    {
      what: 'Naughty strings',
      target: '500 strings in 8 places: byte-exact to the engine, charged by code points, 0 5xx, 0 reflected',
      commands: [tests('evidence/input/nasty-strings.test.ts')],
    },
    { what: 'Fuzz', target: '0 crashes, 0 5xx, 0 hangs beyond a deadline', commands: [tests('evidence/input/fuzz.test.ts')] },
    {
      what: 'Slow clients',
      target:
        '2,000 connections gone within 15 s; p99 of good traffic at most 2 times baseline; RSS, with a fixed malloc threshold: after a forced collection at most the unread answers + 30 MB, before it at most five copies of them more',
      commands: [tests('load/slow-clients.test.ts')],
    },
    {
      what: 'Abort storm',
      target: '0 crashes, every id final, no failure charged, in 10,000 requests',
      commands: [tests('evidence/load/abort-storm.test.ts')],
    },
    {
      what: 'Engine faults',
      target: "exactly 2 attempts, then 503 with Retry-After 5; engine's words in 0 answers; total within the budget + 50 ms",
      commands: [tests('evidence/faults/engine-faults.test.ts')],
    },
    {
      what: 'Overload',
      target:
        'goodput at least 90 % of peak; p99 of accepted at most 5 times idle; event loop p99 below 50 ms; queue bounded; recovers within 2 s',
      commands: [tests('load/overload.test.ts')],
    },
    { what: 'Drain', target: '0 failed requests in 20 SIGTERMs under load, exit 0', commands: [tests('evidence/drain/restarts.test.ts')] },
    {
      what: 'Soak',
      target: 'heap below +1 MB/min, descriptors within 5, timers and Redis keys back to the start',
      commands: [soak('sqlite'), soak('redis')],
    },
    {
      what: 'Secrets',
      target: '0 hits but for the first twelve characters of a key',
      commands: [tests('evidence/journey/secrets.test.ts')],
    },
    {
      what: 'SQLite power cut',
      target: 'always a prefix of the commits, whole; 0 acknowledged lost with FULL; on EIO 503, never a wrong balance',
      commands: [tests('evidence/faults/sqlite-power-cut.test.ts'), tests('evidence/faults/sqlite-system-calls.long.ts')],
    },
  ];
  return rows.map((row, index) => ({ row: index + 1, ...row }));
}
