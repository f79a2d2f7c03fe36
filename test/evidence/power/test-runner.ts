// Runs one test file in a workshop and tells a test that failed from a run in which nothing was tested.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import type { TestRun } from './mutation.ts';
import type { Workshop } from './workshop.ts';

/** `broken`: no test failed and none passed, or it did not end. That says nothing about what was tested. */
export interface Verdict {
  readonly kind: 'passed' | 'failed' | 'broken';
  /** The last lines of what was printed. */
  readonly output: string;
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly success: boolean;
}

const RUN_TIMEOUT_MS = 120_000;
const OUTPUT_SHOWN = 2000;
const REPORT = 'report.json';

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

function runVitest(folder: string, { env, file, names }: TestRun): Promise<string> {
  const filter = names === undefined ? [] : ['--testNamePattern', names];
  const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', REPORT];
  const args = ['run', '--config', 'test/evidence/power/vitest.config.ts', '--root', '.', '--bail', '1', ...reporters, file, ...filter];
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', ...env }, timeout: RUN_TIMEOUT_MS };
    const child = spawn('node_modules/.bin/vitest', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-OUTPUT_SHOWN)));
    child.on('error', reject);
    child.on('close', () => resolve(output));
  });
}
