// Runs one test file in a workshop and distinguishes a failed test from a run that tested nothing.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { launch } from '../../support/start-program.ts';
import type { TestRun } from './mutation.ts';
import type { Workshop } from './workshop.ts';

/** `broken`: no test failed and none passed, or it did not end. That proves nothing. */
interface Verdict {
  readonly kind: 'passed' | 'failed' | 'broken';
  /** The last lines of the output. */
  readonly output: string;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
}

/** Set where the sources are unchanged. */
export const CONTROL_VARIABLE = 'LINGATE_POWER_CONTROL';

/** Above the suite's own limit, at which it reports what was running. */
const RUN_TIMEOUT_MS = 250_000;
const OUTPUT_SHOWN = 2000;
const REPORT = 'report.json';
const VITEST = 'node_modules/vitest/vitest.mjs';

export async function runTests(workshop: Workshop, run: TestRun): Promise<Verdict> {
  const report = join(workshop.folder, REPORT);
  await rm(report, { force: true });
  const output = await runVitest(workshop.folder, run);
  const told = await readFile(report, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    () => undefined,
  );
  return { kind: verdictOf(told), output };
}

export function nameOf({ file, names }: TestRun): string {
  return names === undefined ? file : `${file} (${names})`;
}

function verdictOf(report: Report | undefined): Verdict['kind'] {
  if (report === undefined) return 'broken';
  if (report.numFailedTests > 0) return 'failed';
  return report.success && report.numPassedTests > 0 ? 'passed' : 'broken';
}

async function runVitest(folder: string, { env, file, names }: TestRun): Promise<string> {
  const filter = names === undefined ? [] : ['--testNamePattern', names];
  const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', REPORT];
  const args = ['run', '--config', 'test/evidence/power/vitest.config.ts', '--root', '.', '--bail', '1', ...reporters, file, ...filter];
  const variables = { ...process.env, NO_COLOR: '1', ...env };
  const program = launch('node', [VITEST, ...args], { cwd: folder, env: variables });
  const timer = setTimeout(() => program.kill(), RUN_TIMEOUT_MS);
  await program.ended;
  clearTimeout(timer);
  return program.output.slice(-OUTPUT_SHOWN);
}
