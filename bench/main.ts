// npm run bench: all contestants side by side; prints a table, and keeps it on request.
import { readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runBench } from './bench.ts';
import { contestants, furtherContestants } from './contestants/all.ts';
import type { Contestant } from './contestants/contestant.ts';
import { BASELINE, figuresOf, readmeTable, terminalTable } from './figures.ts';
import type { Result } from './figures.ts';
import { describeMachine, machineLine } from './machine.ts';

const USAGE = `npm run bench -- [--quick] [--only a,b] [--rounds N] [--teams N] [--load wrk|autocannon] [--before FOLDER] [--keep]
  --quick          about three minutes instead of ten
  --only a,b       these contestants, and ${BASELINE} to compare with: ${contestants.map(({ name }) => name).join(', ')};
                   on no other list: ${furtherContestants.map(({ name }) => name).join(', ')}
  --rounds N       how often everybody is measured
  --teams N        how many teams the requests are of, in turn (10)
  --load           autocannon instead of wrk
  --before FOLDER  another checkout, built, for the contestants that end in -before
  --keep           writes bench/result.json, and its table into bench/README.md`;

const DEFAULT = { rounds: 11, seconds: 1, warmSeconds: 8, latencyRounds: 3, steadyPerSecond: 2000, connections: 64, teams: 10 };
const QUICK = { ...DEFAULT, rounds: 3, warmSeconds: 3, latencyRounds: 1 };

const RESULT = new URL('result.json', import.meta.url);
const README = new URL('README.md', import.meta.url);
const TABLE = /(?<=<!-- result -->\n)[^]*(?=<!-- end of result -->)/;

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
    teams: { type: 'string' },
    load: { type: 'string', default: 'wrk' },
    before: { type: 'string' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { load, before } = values;
  if (load !== 'wrk' && load !== 'autocannon') throw new Error('--load: wrk or autocannon');
  if (before !== undefined) process.env['BENCH_BEFORE'] = before;
  const lengths = values.quick ? QUICK : DEFAULT;
  const settings = {
    ...lengths,
    load,
    rounds: numberOf('--rounds', values.rounds, lengths.rounds),
    teams: numberOf('--teams', values.teams, lengths.teams),
  } as const;
  const machine = await describeMachine();
  const { measured, leftOut } = await runBench({ ...settings, contestants: chosen(values.only) }, (line) => console.error(line));
  const result: Result = { machine, settings, contestants: figuresOf(measured) };
  console.log(`\n${machineLine(machine)}\n\n${terminalTable(result.contestants)}`);
  for (const { name, reason } of leftOut) console.log(`left out: ${name}: ${reason}`);
  for (const { name, faults } of measured) for (const fault of faults) console.log(`WRONG: ${name}: ${fault}`);
  if (measured.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  else if (values.keep) keep(result);
}

function keep(result: Result): void {
  const { machine, settings, contestants: all } = result;
  const rows = Object.entries(all).map(([name, figures]) => `    ${JSON.stringify(name)}: ${JSON.stringify(figures)}`);
  const head = `{\n  "machine": ${JSON.stringify(machine)},\n  "settings": ${JSON.stringify(settings)},`;
  writeFileSync(RESULT, `${head}\n  "contestants": {\n${rows.join(',\n')}\n  }\n}\n`);
  const table = `\n${machineLine(result.machine)}:\n\n${readmeTable(result.contestants)}\n\n`;
  writeFileSync(
    README,
    readFileSync(README, 'utf8').replace(TABLE, () => table),
  );
}

function numberOf(name: string, given: string | undefined, fallback: number): number {
  const number = given === undefined ? fallback : Number(given);
  if (!Number.isInteger(number) || number < 1) throw new Error(`${name}: a whole number from 1`);
  return number;
}

/** The baseline always takes part: ratios are to its own rounds. */
function chosen(only: string | undefined): Contestant[] {
  const all = [...contestants, ...furtherContestants];
  if (only === undefined) return [...contestants];
  const names = only.split(',');
  const unknown = names.find((name) => !all.some((contestant) => contestant.name === name));
  if (unknown !== undefined) throw new Error(`--only: there is no "${unknown}"; there are ${all.map(({ name }) => name).join(', ')}`);
  return all.filter(({ name }) => name === BASELINE || names.includes(name));
}
