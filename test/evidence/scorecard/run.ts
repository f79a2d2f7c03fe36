// `npm run scorecard [-- --rows 1-9,12] [--size SIZE] [--long] [--out FILE]`: measures the rows one after another, prints them as a table.
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { launch, outputOf } from '../../support/start-program.ts';
import { REPORT_FILE_VARIABLE } from './report.ts';
import type { Counts, Report } from './report.ts';
import { rowsOf } from './rows.ts';
import type { Command, Row } from './rows.ts';
import { SIZE_VARIABLE, SIZES } from './size.ts';
import type { Size } from './size.ts';

const USAGE = `npm run scorecard [-- [--rows 1-9,12] [--size ${SIZES.join('|')}] [--long] [--out FILE]]`;
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** After this long a command counts as hanging and is killed with everything that it started. */
const COMMAND_MS_MAX = { short: 300_000, card: 600_000, nightly: 4 * 3_600_000 };
/** The time for a suite that is asked to end to print which tests were running. */
const ASKED_MS = 5000;
const REASON_MAX = 300;

const { rows, size, out } = readArguments();
// An interrupted run kills what it started: that happens on exit.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const folder = mkdtempSync(join(tmpdir(), 'lingate-scorecard-'));
const counts: Record<keyof Counts, number> = { badInputs: 0, faults: 0, requestsChecked: 0, requestsSimulated: 0 };
const lines: string[] = [];
let unmet = 0;

say('| # | what | our figure | target | met | s |\n| - | - | - | - | - | - |');
for (const row of rows) await measure(row);
const number = (count: number): string => count.toLocaleString('en');
say(`\n- ${rows.length - unmet} of ${rows.length} rows met; what each printed is in ${folder}
- bad inputs tried: ${number(counts.badInputs)}; faults injected: ${number(counts.faults)}
- requests checked against every invariant: ${number(counts.requestsChecked)}; under virtual time: ${number(counts.requestsSimulated)}
- measured on ${cpus().length} cores of ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, commit ${await commit()}`);
process.exitCode = unmet === 0 ? 0 : 1;

/** Runs the commands of a row, each in a process of its own, and adds its line to the table. */
async function measure({ row, what, target, commands }: Row): Promise<void> {
  const reportFile = join(folder, `row-${row}.reports`);
  const startedAtMs = performance.now();
  const failures: string[] = [];
  for (const [index, command] of commands.entries()) {
    const base = join(folder, `row-${row}.${index}`);
    const status = await run(command, base, { ...process.env, [SIZE_VARIABLE]: size, [REPORT_FILE_VARIABLE]: reportFile, ...command.env });
    const failed = failuresIn(`${base}.json`);
    failures.push(...failed);
    if (status !== 0 && failed.length === 0) failures.push(`ended with ${status}; what it printed is in ${base}.log`);
  }
  // Copies of tests may report for other rows.
  const reports = reportsIn(reportFile).filter((report) => report.row === row);
  for (const [name, count] of reports.flatMap((report) => Object.entries(report.counts ?? {})))
    counts[name as keyof Counts] += Number(count);
  const figures = reports.map(({ figure, measured, met }) => `${figure}: ${measured}${met === false ? ' (not met)' : ''}`);
  const isMet = failures.length === 0 && figures.length > 0 && reports.every(({ met }) => met !== false);
  if (!isMet) unmet++;
  const seconds = Math.round((performance.now() - startedAtMs) / 1000);
  const figure = [...figures, ...failures].join('<br>') || 'not measured';
  say(`| ${[row, what, figure, target, isMet ? 'yes' : 'no', seconds].map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`);
}

/** The exit status, or why there is none. */
async function run(command: Command, base: string, env: NodeJS.ProcessEnv): Promise<number | string> {
  const output = createWriteStream(`${base}.log`);
  await once(output, 'open');
  const started = launch('node', argumentsOf(command, base), { cwd: ROOT, env, stdio: ['ignore', output, output] });
  const ask = setTimeout(() => started.child.kill('SIGTERM'), COMMAND_MS_MAX[size]);
  const kill = setTimeout(() => started.kill(), COMMAND_MS_MAX[size] + ASKED_MS);
  const { status, signal } = await started.ended;
  clearTimeout(ask);
  clearTimeout(kill);
  started.sweep();
  output.close();
  return status ?? signal ?? 'no status';
}

function argumentsOf(command: Command, base: string): readonly string[] {
  if ('program' in command) return ['--disable-warning=ExperimentalWarning', ...command.program];
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/evidence/scorecard/vitest.config.ts', '--root', '.'];
  const names = command.names === undefined ? [] : ['--testNamePattern', command.names];
  return [...vitest, command.tests, ...names, '--reporter=default', '--reporter=json', `--outputFile.json=${base}.json`];
}

function reportsIn(file: string): Report[] {
  if (!existsSync(file)) return [];
  const written = readFileSync(file, 'utf8').split('\n');
  return written.map((line) => parsed(line) as Report | undefined).filter((line) => line !== undefined);
}

/** A process that was killed while writing leaves half a line. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

interface VitestResult {
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string; readonly failureMessages: readonly string[] }[];
}

/** One line for each failed test, without its stack, and for each file that failed without one. */
function failuresIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const { testResults } = (parsed(readFileSync(file, 'utf8')) ?? { testResults: [] }) as { readonly testResults: readonly VitestResult[] };
  const inOne = (text: string): string =>
    text
      .replace(/\n\s+at [^]*$/, '')
      .replaceAll(/\s+/g, ' ')
      .slice(0, REASON_MAX);
  return testResults.flatMap(({ status, message, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed');
    if (failed.length > 0) return failed.map((one) => inOne(`${one.fullName}: ${one.failureMessages[0] ?? ''}`));
    return status === 'failed' ? [inOne(message)] : [];
  });
}

function readArguments(): { readonly rows: readonly Row[]; readonly size: Size; readonly out: string | undefined } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { rows: text, size: text, long: { type: 'boolean' }, out: text } });
    const chosenSize = values.long === true ? 'nightly' : SIZES.find((one) => one === (values.size ?? 'card'));
    if (chosenSize === undefined) throw new Error(`${values.size} is no size`);
    return { rows: chosen(rowsOf(chosenSize), values.rows), size: chosenSize, out: values.out };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong usage'}\nusage: ${USAGE}\n`);
    process.exit(2);
  }
}

function chosen(all: readonly Row[], list: string | undefined): readonly Row[] {
  if (list === undefined) return all;
  return list.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    const found = all.filter(({ row }) => row >= Number(first) && row <= Number(last));
    if (found.length === 0) throw new Error(`--rows ${list}: must be numbers from 1 to ${all.length}, or first-last, separated by commas`);
    return found;
  });
}

async function commit(): Promise<string> {
  const git = async (...args: readonly string[]): Promise<string> => (await outputOf('git', args, { cwd: ROOT })).trim();
  const changed = (await git('status', '--porcelain')) === '' ? '' : ' with changes';
  return (await git('rev-parse', '--short=12', 'HEAD')) + changed;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
  lines.push(text);
  // After each, in case the run is interrupted.
  if (out !== undefined) writeFileSync(out, `${lines.join('\n')}\n`);
}
