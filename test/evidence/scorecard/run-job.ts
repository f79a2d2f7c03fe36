// Runs one job of the scorecard to its end, and collects its tests' reports and failures.
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { launch } from '../../support/start-program.ts';
import type { Command, Job } from './jobs.ts';
import { REPORT_FILE_VARIABLE } from './report.ts';
import type { Report } from './report.ts';
import { SIZE_VARIABLE } from './size.ts';
import type { Size } from './size.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const REASON_MAX = 300;
/** The time for a suite that is told to end to print which tests were running. */
const ASKED_MS = 5000;

/** The result of a job. */
export interface JobResult {
  readonly row: number;
  readonly reports: readonly Report[];
  /** One line per failure; empty if everything passed. */
  readonly failures: readonly string[];
  readonly seconds: number;
}

interface JobSetting {
  readonly size: Size;
  /** For the job's output, which is not shown, and its reports. */
  readonly folder: string;
  /** After this long a command counts as hanging and is killed with everything that it started. */
  readonly commandMsMax: number;
}

export async function runJob(job: Job, setting: JobSetting): Promise<JobResult> {
  const name = `row-${job.row}`;
  const reportFile = join(setting.folder, `${name}.reports`);
  const startedAtMs = performance.now();
  const failures: string[] = [];
  for (const [index, command] of job.commands.entries()) {
    const base = join(setting.folder, `${name}.${index}`);
    const env = { ...process.env, [SIZE_VARIABLE]: setting.size, [REPORT_FILE_VARIABLE]: reportFile, ...job.env };
    const status = await runCommand(command, base, env, setting.commandMsMax);
    const failed = failuresIn(`${base}.json`);
    failures.push(...failed);
    if (status !== 0 && failed.length === 0) failures.push(`ended with ${status}; what it printed is in ${name}.${index}.log`);
  }
  const seconds = Math.round((performance.now() - startedAtMs) / 1000);
  // Planted bugs and copies of tests may report for other rows.
  const reports = reportsIn(reportFile).filter(({ row }) => row === job.row);
  return { row: job.row, reports, failures, seconds };
}

/** The exit status, or why there is none. */
async function runCommand(command: Command, base: string, env: NodeJS.ProcessEnv, msMax: number): Promise<number | string> {
  const output = createWriteStream(`${base}.log`);
  await once(output, 'open');
  // What it started is killed with it.
  const program = launch('node', argumentsOf(command, base), { cwd: ROOT, env, stdio: ['ignore', output, output] });
  const ask = setTimeout(() => program.child.kill('SIGTERM'), msMax);
  const kill = setTimeout(() => program.kill(), msMax + ASKED_MS);
  const { status, signal } = await program.ended;
  clearTimeout(ask);
  clearTimeout(kill);
  program.sweep();
  output.close();
  return status ?? signal ?? 'no status';
}

function argumentsOf(command: Command, base: string): readonly string[] {
  if (command.kind === 'program') return ['--disable-warning=ExperimentalWarning', ...command.args];
  const vitest = [
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'test/evidence/scorecard/vitest.config.ts',
    '--root',
    '.',
  ];
  const names = command.names === undefined ? [] : ['--testNamePattern', command.names];
  return [...vitest, command.file, ...names, '--reporter=default', '--reporter=json', `--outputFile.json=${base}.json`];
}

function reportsIn(file: string): Report[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.map((line) => parsed(line) as Report | undefined).filter((line) => line !== undefined);
}

/** A process that was killed while writing leaves half a line. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

interface VitestResults {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

function failuresIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const { testResults } = (parsed(readFileSync(file, 'utf8')) ?? { testResults: [] }) as VitestResults;
  return testResults.flatMap(({ status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length > 0) return failed.map((test) => reason(`${test.fullName}: ${test.failureMessages[0] ?? ''}`));
    return status === 'failed' ? [reason(message)] : [];
  });
}

function reason(text: string): string {
  // Colours and the stack are for the log.
  const lines = stripVTControlCharacters(text).split('\n');
  const stackAt = lines.findIndex((line) => /^\s+at /.test(line));
  const said = lines.slice(0, stackAt === -1 ? undefined : stackAt).map((line) => line.trim());
  return said
    .filter((line) => line !== '')
    .join(' ')
    .slice(0, REASON_MAX);
}
