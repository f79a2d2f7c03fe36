// npm run bench: all contestants side by side; prints a table, and writes raw numbers and a report page to bench/results.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { aimsReached } from './aims/aims.ts';
import { aimsTable } from './aims/aims-table.ts';
import { contestants, furtherContestants, YARDSTICK } from './contestants/all.ts';
import type { Contestant } from './contestants/contestant.ts';
import { machineLine } from './machine/description.ts';
import { runBench } from './run/bench.ts';
import type { BenchPlan } from './run/bench.ts';
import { benchTable, memoryTable } from './run/bench-table.ts';
import { figuresOf } from './run/figures.ts';
import { keepResult } from './run/keep-result.ts';

const USAGE = `npm run bench -- [--quick] [--only a,b] [--rounds N] [--load own|autocannon] [--keep]
  --quick       about two minutes instead of ten, without 100,000 teams and memory
  --only a,b    these contestants, and nginx to compare with: ${contestants.map(({ name }) => name).join(', ')};
                on no other list: ${furtherContestants.map(({ name }) => name).join(', ')}
  --rounds N    how often everybody is measured at least
  --load        autocannon instead of the bench's own, leaner load
  --keep        makes this run the example that is committed`;

const DEFAULT = {
  rounds: 11,
  closedMs: 500,
  openMs: 700,
  singleMs: 400,
  steadyRounds: 1,
  latencyRounds: 5,
  triesMax: 3,
  againMsMax: 90_000,
  extraRoundsMax: 8,
  extraMsMax: 60_000,
  // V8 compiles a gateway's last functions for about this long.
  warmRequests: 150_000,
  warmMsMax: 10_000,
  memoryTeams: 2000,
  connections: 64,
  // The curve over teams shows the cost of more of them.
  teams: 10,
  steadyPerSecond: 2000,
};
const QUICK = {
  ...DEFAULT,
  rounds: 3,
  closedMs: 400,
  latencyRounds: 2,
  againMsMax: 10_000,
  extraRoundsMax: 0,
  warmRequests: 60_000,
  warmMsMax: 4000,
  memoryTeams: 0,
};
/** Creating 100,000 teams takes longer than the rest of a quick run. */
const QUICK_TEAMS_MAX = 1000;

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
    rounds: { type: 'string' },
    load: { type: 'string', default: 'own' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  if (values.load !== 'own' && values.load !== 'autocannon') throw new Error('--load: own or autocannon');
  const lengths = values.quick ? QUICK : DEFAULT;
  const plan: BenchPlan = {
    ...lengths,
    rounds: roundsOf(values.rounds, lengths.rounds),
    load: values.load,
    contestants: chosen(values.only).filter(({ teams = 0 }) => !values.quick || teams <= QUICK_TEAMS_MAX),
  };
  const result = await runBench(plan, (line) => console.error(line));
  const figures = figuresOf(result);
  console.log(
    `\n${machineLine(result.machine)}\n${Object.entries(result.machine.versions)
      .map((pair) => pair.join(' '))
      .join(', ')}\n`,
  );
  console.log(benchTable(figures));
  for (const { name, reason } of result.leftOut) console.log(`left out: ${name}: ${reason}`);
  for (const { name, faults } of figures) for (const fault of faults) console.log(`WRONG: ${name}: ${fault}`);
  const { memory } = result;
  if (memory.length > 0) console.log(`\n${memoryTable(memory)}`);
  console.log(`\n${aimsTable(aimsReached(result.contestants))}`);
  if (figures.some(({ disturbed }) => disturbed > 0.5))
    console.log('Other programs were active most of the time: trust the ratios, and measure again when the machine is quiet.');
  console.log(`\n${keepResult('bench', result, values.keep).join('\n')}`);
  if (figures.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

function roundsOf(given: string | undefined, fallback: number): number {
  const rounds = given === undefined ? fallback : Number(given);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 100) throw new Error('--rounds: a whole number from 1 to 100');
  return rounds;
}

/** The baseline always takes part: ratios are to its own rounds. */
function chosen(only: string | undefined): Contestant[] {
  if (only === undefined) return [...contestants];
  const names = only.split(',');
  const all = [...contestants, ...furtherContestants];
  const unknown = names.find((name) => !all.some((contestant) => contestant.name === name));
  if (unknown !== undefined) throw new Error(`--only: there is no "${unknown}"; there are ${all.map(({ name }) => name).join(', ')}`);
  return all.filter(({ name }) => name === YARDSTICK || names.includes(name));
}
