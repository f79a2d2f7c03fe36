// npm run task -- test:power [--ports]: every wrong port must be noticed, and every edit of Lua and SQL in a copy of the sources.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from '../../support/start-program.ts';
import { report } from '../scorecard/report.ts';
import { TEXT_EDITS } from './text-edits.ts';
import type { TextEdit } from './text-edits.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = ['src', 'test', 'config', 'package.json', 'tsconfig.json'];
const PORTS = 'test/evidence/power/wrong-ports.test.ts';
const CONTRACT = 'test/unit/stores/contract.test.ts';
/** Above the suite's own limit, at which it reports what was running. */
const RUN_TIMEOUT_MS = 250_000;
const OUTPUT_SHOWN = 2000;

interface Ran {
  readonly passed: number;
  readonly failed: number;
  readonly success: boolean;
  /** The last of it. */
  readonly output: string;
}

const { values } = parseArgs({ options: { ports: { type: 'boolean', default: false } } });
const startedAtMs = performance.now();
process.exitCode = (await portsAreNoticed()) && (values.ports || (await editsAreNoticed())) ? 0 : 1;
say(`${Math.round((performance.now() - startedAtMs) / 1000)} s`);

async function portsAreNoticed(): Promise<boolean> {
  const { passed, failed, success, output } = await runTests(ROOT, PORTS);
  if (!success) say(output);
  report({ row: 11, figure: 'wrong ports', measured: `${passed} tests passed, ${failed} failed`, met: success });
  say(`wrong ports: ${passed} tests passed, ${failed} failed`);
  return success;
}

async function editsAreNoticed(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const parts = [...new Set(TEXT_EDITS.map(namesOf))].join('|');
    const { success, output } = await runTests(folder, CONTRACT, parts);
    // A test that always fails notices nothing.
    if (!success) say(`FAILS WITHOUT ANY EDIT:\n${output}`);
    let noticed = 0;
    for (const edit of TEXT_EDITS) if (await isNoticed(folder, edit)) noticed++;
    const met = success && noticed === TEXT_EDITS.length;
    say(`${noticed} of ${TEXT_EDITS.length} edits noticed`);
    report({ row: 11, figure: 'edits of Lua and SQL', measured: `${noticed} of ${TEXT_EDITS.length} noticed`, met });
    return met;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function isNoticed(folder: string, edit: TextEdit): Promise<boolean> {
  const path = join(folder, edit.file);
  const text = readFileSync(path, 'utf8');
  const count = text.split(edit.find).length - 1;
  if (count !== 1) return say(`STALE: ${edit.name}: ${edit.file} has this ${count} times: ${edit.find}`);
  writeFileSync(
    path,
    text.replace(edit.find, () => edit.replace),
  );
  const { failed, output } = await runTests(folder, CONTRACT, namesOf(edit)).finally(() => writeFileSync(path, text));
  if (failed === 0) return say(`ESCAPED: ${edit.name}:\n${output}`);
  say(`noticed: ${edit.name}`);
  return true;
}

/** Of the tests of the store that has the file. */
function namesOf({ file, part }: TextEdit): string {
  return `the ${file.includes('/redis/') ? 'Redis' : 'SQLite'} store.*${part}`;
}

async function runTests(folder: string, file: string, names?: string): Promise<Ran> {
  const json = join(mkdtempSync(join(tmpdir(), 'lingate-power-report-')), 'report.json');
  const filter = names === undefined ? [] : ['--testNamePattern', names, '--bail', '1'];
  const reporters = ['--reporter', 'default', '--reporter', 'json', '--outputFile.json', json];
  const args = ['run', '--config', 'test/evidence/power/vitest.config.ts', '--root', '.', ...reporters, file, ...filter];
  const program = launch('node', ['node_modules/vitest/vitest.mjs', ...args], { cwd: folder, env: { ...process.env, NO_COLOR: '1' } });
  const timer = setTimeout(() => program.kill(), RUN_TIMEOUT_MS);
  await program.ended;
  clearTimeout(timer);
  const output = program.output.slice(-OUTPUT_SHOWN);
  const nothing = { numPassedTests: 0, numFailedTests: 0, success: false };
  const { numPassedTests: passed, numFailedTests: failed, success } = readReport(json) ?? nothing;
  rmSync(join(json, '..'), { recursive: true, force: true });
  return { passed, failed, success: success && passed > 0, output };
}

function readReport(json: string): { numPassedTests: number; numFailedTests: number; success: boolean } | undefined {
  try {
    return JSON.parse(readFileSync(json, 'utf8')) as ReturnType<typeof readReport>;
  } catch {
    return undefined;
  }
}

/** Returns `false`, for callers that report a failure. */
function say(line: string): false {
  process.stdout.write(`${line}\n`);
  return false;
}
