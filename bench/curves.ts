// npm run bench:curves: the cost of a request while one parameter at a time is increased.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { curvePlans } from './curves/curve-plans.ts';
import type { Curve } from './curves/curve.ts';
import { runCurve } from './curves/run-curve.ts';
import type { CurveLengths } from './curves/run-curve.ts';
import { describeMachine, machineLine } from './machine/description.ts';
import { Arena } from './run/arena.ts';
import { keepResult } from './run/keep-result.ts';
import { textTable } from './run/text-table.ts';

const NAMES = curvePlans.map(({ name }) => name).join(', ');
const USAGE = `npm run task -- bench:curves [--quick] [--only a,b] [--keep]; curves: ${NAMES}`;

const DEFAULT: CurveLengths = { rounds: 5, durationMs: 1000, warmRequests: 40_000, warmMsMax: 6000 };
const QUICK: CurveLengths = { rounds: 2, durationMs: 400, warmRequests: 10_000, warmMsMax: 2000 };
const TEAMS = 1000;

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

async function main(): Promise<void> {
  const options = {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const machine = await describeMachine();
  const curves: Curve[] = [];
  for (const plan of chosen(values.only)) {
    // Each in an arena of its own, so that one does not slow the next.
    const arena = await Arena.open({ teams: TEAMS });
    try {
      curves.push(await runCurve(arena, plan, values.quick ? QUICK : DEFAULT, (line) => console.error(line)));
    } finally {
      await arena.close();
    }
  }
  console.log(`\n${machineLine(machine)}\n`);
  for (const curve of curves) console.log(`${curve.title}\n${table(curve)}\n`);
  console.log(keepResult('curves', { machine, curves }, values.keep).join('\n'));
}

function chosen(only: string | undefined): typeof curvePlans {
  if (only === undefined) return curvePlans;
  const names = only.split(',');
  const unknown = names.find((name) => !curvePlans.some((plan) => plan.name === name));
  if (unknown !== undefined) throw new Error(`--only: there is no curve "${unknown}"; there are ${NAMES}`);
  return curvePlans.filter(({ name }) => names.includes(name));
}

function table({ axis, lines }: Curve): string {
  const rows = lines.flatMap(({ contestant, points }) =>
    points.map((point) => [
      contestant,
      String(point.x),
      point.cpuUsPerRequest.toFixed(1),
      `${point.least.toFixed(1)}–${point.most.toFixed(1)}`,
      point.redisUsPerRequest?.toFixed(1) ?? '',
      point.requestsPerCall?.toFixed(1) ?? '',
      Math.round(point.perSecond).toString(),
      `${point.p50Ms.toFixed(2)} / ${point.p99Ms.toFixed(2)}`,
      point.faults === 0 ? '' : String(point.faults),
      point.bytesPerConnection === undefined ? '' : Math.round(point.bytesPerConnection).toString(),
    ]),
  );
  return textTable(['', axis, 'CPU µs', 'middle half', 'Redis µs', 'req/call', 'req/s', 'p50/p99 ms', 'WRONG', 'bytes a connection'], rows);
}
