// The scorecard's jobs: which commands feed which row, and their size.
import { SIZE_VARIABLE } from './size.ts';
import type { Size } from './size.ts';

export interface Job {
  readonly row: number;
  /** Run in sequence; a test file by vitest, a program by node with its arguments. */
  readonly commands: readonly Command[];
  readonly env?: Readonly<Record<string, string>>;
}

export type Command =
  | { readonly kind: 'tests'; readonly file: string; readonly names: string | undefined }
  | { readonly kind: 'program'; readonly args: readonly string[] };

/** `names` is a pattern for the tests of a file that feeds more than one row. */
const tests = (file: string, names?: string): Command => ({ kind: 'tests', file: `test/${file}`, names });
const program = (...args: readonly string[]): Command => ({ kind: 'program', args });

/** In the order of their rows, each in a process of its own, so that times are measured per row and a crash ends only its job. */
export function jobsOf(size: Size): readonly Job[] {
  const by = (short: number, card: number, nightly: number): string => String({ short, card, nightly }[size]);
  const soak = (store: string): Command => program('test/evidence/load/soak.ts', '--minutes', by(0.1, 0.8, 10), '--store', store);
  return [
    { row: 1, commands: [tests('evidence/faults/accounting.test.ts')] },
    { row: 2, commands: [tests('evidence/faults/gateway-crash.test.ts')] },
    { row: 3, commands: [tests('evidence/faults/redis-away.test.ts', 'because it was killed')] },
    { row: 4, commands: [tests('evidence/faults/redis-away.test.ts', 'because it is frozen')] },
    { row: 5, commands: [tests('evidence/faults/lost-replies.test.ts')] },
    { row: 6, commands: [tests('evidence/faults/cluster-failover.test.ts')] },
    { row: 7, commands: [tests('evidence/faults/limiter.test.ts', 'admit exactly')] },
    { row: 8, commands: [tests('evidence/faults/limiter.test.ts', 'refuse a revoked key')] },
    { row: 9, commands: [tests('unit/stores/equality.test.ts')], env: { LINGATE_PROPERTY_RUNS: by(100, 1200, 20_000) } },
    { row: 10, commands: [tests('evidence/simulation/simulation.test.ts')], env: { LINGATE_SIMULATION_SEEDS: by(500, 10_000, 200_000) } },
    { row: 11, commands: [program('test/evidence/power/run.ts')], env: { [SIZE_VARIABLE]: 'short' } },
    { row: 12, commands: [tests('http/table.test.ts')] },
    { row: 13, commands: [tests('evidence/http-table/smuggling.test.ts')] },
    { row: 14, commands: [tests('evidence/http-table/fragments.test.ts')] },
    { row: 15, commands: [tests('evidence/input/json.test.ts')] },
    { row: 16, commands: [tests('evidence/input/nasty-strings.test.ts')] },
    {
      row: 17,
      commands: [
        tests('evidence/input/fuzz.test.ts'),
        tests('evidence/input/parsers.test.ts'),
        tests('evidence/input/bodies.test.ts'),
        tests('evidence/input/urls.test.ts'),
      ],
    },
    { row: 18, commands: [tests('load/slow-clients.test.ts')] },
    { row: 19, commands: [tests('evidence/load/abort-storm.test.ts')] },
    { row: 20, commands: [tests('evidence/faults/engine-faults.test.ts')] },
    { row: 21, commands: [tests('load/overload.test.ts')] },
    { row: 22, commands: [tests('evidence/drain/restarts.test.ts')] },
    { row: 23, commands: [soak('sqlite'), soak('redis')] },
    { row: 24, commands: [tests('evidence/journey/secrets.test.ts')] },
    { row: 25, commands: [tests('evidence/faults/sqlite-power-cut.test.ts'), tests('evidence/faults/sqlite-system-calls.long.ts')] },
  ];
}
