// Runs test files in a workshop and distinguishes a failed test from a run that tested nothing.
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

/** vitest's own, as far as it is read here. */
export interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

interface HowToRun {
  readonly names?: string | undefined;
  readonly env?: TestRun['env'];
  /** Nothing is run after the first test that fails. */
  readonly bail?: boolean;
}

/** Set where the sources are unchanged. */
export const CONTROL_VARIABLE = 'LINGATE_POWER_CONTROL';

/** Above the suite's own limit, at which it reports what was running. */
const RUN_TIMEOUT_MS = 250_000;
const OUTPUT_SHOWN = 2000;
const REPORT = 'report.json';
const VITEST = 'node_modules/vitest/vitest.mjs';

export async function runTests(workshop: Workshop, { file, names, env }: TestRun): Promise<Verdict> {
  const { report, output } = await reportOf(workshop, [file], { names, env, bail: true });
  return { kind: verdictOf(report), output };
}

/** Without a report if vitest has written none: it did not end, or did not begin. */
export async function reportOf(
  workshop: Workshop,
  files: readonly string[],
  how: HowToRun,
): Promise<{ readonly report: Report | undefined; readonly output: string }> {
  const path = join(workshop.folder, REPORT);
  await rm(path, { force: true });
  const output = await runVitest(workshop.folder, files, how);
  const report = await readFile(path, 'utf8').then(
    (text) => JSON.parse(text) as Report,
    () => undefined,
  );
  return { report, output };
}

export function nameOf({ file, names }: TestRun): string {
  return names === undefined ? file : `${file} (${names})`;
}

function verdictOf(report: Report | undefined): Verdict['kind'] {
  if (report === undefined) return 'broken';
  if (report.numFailedTests > 0) return 'failed';
  return report.success && report.numPassedTests > 0 ? 'passed' : 'broken';
}

async function runVitest(folder: string, files: readonly string[], { names, env, bail = false }: HowToRun): Promise<string> {
  const filter = names === undefined ? [] : ['--testNamePattern', names];
  const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', REPORT];
  const ends = bail ? ['--bail', '1'] : [];
  const args = ['run', '--config', 'test/evidence/power/vitest.config.ts', '--root', '.', ...ends, ...reporters, ...files, ...filter];
  const variables = { ...process.env, NO_COLOR: '1', ...env };
  const program = launch('node', [VITEST, ...args], { cwd: folder, env: variables });
  const timer = setTimeout(() => program.kill(), RUN_TIMEOUT_MS);
  await program.ended;
  clearTimeout(timer);
  return program.output.slice(-OUTPUT_SHOWN);
}
