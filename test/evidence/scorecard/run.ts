// `npm run scorecard [-- --rows 1-9,12] [--long] [--out PATH]`: runs the jobs of the 25 rows one after another, prints one table.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { outputOf } from '../../support/start-program.ts';
import { cardOf } from './card.ts';
import type { Card } from './card.ts';
import { jobsOf } from './jobs.ts';
import { runJob } from './run-job.ts';
import type { JobResult } from './run-job.ts';
import { ROWS } from './rows.ts';
import { SIZES } from './size.ts';
import type { Size } from './size.ts';
import { countsText, tableMarkdown, tableText } from './text.ts';
import type { Setting } from './text.ts';

const USAGE = `npm run scorecard [-- [--rows 1-9,12] [--size ${SIZES.join('|')}] [--long] [--out PATH]]`;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COMMAND_MS_MAX = { short: 300_000, card: 600_000, nightly: 4 * 3_600_000 };

interface Wanted {
  readonly rows: readonly number[];
  readonly size: Size;
  /** How ledger operations run in the Redis of rows 1 to 8. */
  /** The table and the card are written side by side, with different file endings. */
  readonly out: string;
}

const wanted = readArguments();
// An interrupted run kills what it started: that happens on exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const folder = mkdtempSync(join(tmpdir(), 'lingate-scorecard-'));
const out = wanted.out === '' ? join(folder, 'scorecard') : wanted.out;
const setting = await settingOf();
const results: JobResult[] = [];
let card = cardOf(results);
for (const job of jobsOf(wanted.size).filter(({ row }) => wanted.rows.includes(row))) {
  const result = await runJob(job, { size: wanted.size, folder, commandMsMax: COMMAND_MS_MAX[wanted.size] });
  results.push(result);
  say(`row ${job.row}: ${result.failures.length === 0 ? 'passed' : 'FAILED'} in ${result.seconds} s`);
  // After each, in case the run is interrupted.
  card = cardOf(results);
  writeFileSync(`${out}.json`, `${JSON.stringify({ size: wanted.size, ...setting, ...card }, undefined, 2)}\n`);
  writeFileSync(`${out}.md`, `${tableMarkdown(asked())}\n\n${countsText(asked(), setting)}\n`);
}
say(
  `\n${tableText(asked())}\n\n${countsText(asked(), setting)}\n- written to ${out}.json and ${out}.md; what each row printed is in ${folder}`,
);
process.exitCode = asked().rows.some(({ verdict }) => verdict !== 'met') ? 1 : 0;

/** The card without the rows that were not requested. */
function asked(): Card {
  return { ...card, rows: card.rows.filter(({ row }) => wanted.rows.includes(row)) };
}

function readArguments(): Wanted {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { rows: text, size: text, long: { type: 'boolean' }, out: text } });
    const size = values.long === true ? 'nightly' : SIZES.find((one) => one === (values.size ?? 'card'));
    if (size === undefined) throw new Error(`${values.size} is no size`);
    return { rows: rowsOf(values.rows), size, out: (values.out ?? '').replace(/\.(?:md|json)$/, '') };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong usage'}\nusage: ${USAGE}\n`);
    process.exit(2);
  }
}

function rowsOf(list: string | undefined): number[] {
  const all = ROWS.map(({ row }) => row);
  if (list === undefined) return all;
  return list.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const rows = all.filter((row) => row >= Number(first) && row <= Number(last));
    if (!rows.includes(Number(first)) || !rows.includes(Number(last)))
      throw new Error(`--rows ${list}: must be numbers from 1 to ${all.length}, or first-last, separated by commas`);
    return rows;
  });
}

async function settingOf(): Promise<Setting> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly dependencies?: Readonly<Record<string, string>> }>>;
  };
  const installed = Object.entries(lock.packages).filter(([name, { dev }]) => name !== '' && dev !== true);
  return {
    runtimePackages: Object.keys(lock.packages['']?.dependencies ?? {}).length,
    runtimePackagesInAll: installed.length,
    machine: `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? 'an unknown kind'}, Node ${process.versions.node}`,
    commit: await commitOf(),
  };
}

async function commitOf(): Promise<string> {
  const git = async (...args: readonly string[]): Promise<string> => (await outputOf('git', args, { cwd: ROOT })).trim();
  try {
    const changed = (await git('status', '--porcelain')) === '' ? '' : ' with changes';
    return (await git('rev-parse', '--short=12', 'HEAD')) + changed;
  } catch {
    return 'unknown';
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
