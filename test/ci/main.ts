// Checks every submission step by step, each under a time limit; the last line counts passed and failed tests.
import { readdirSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { countsOf, failuresOf } from '../bare/counts.ts';
import { run } from '../bare/command.ts';
import { whyNoRoot } from '../bare/root-file-system.ts';
import { say, StepCounts } from '../bare/step-counts.ts';
import type { Startable } from '../support/start-program.ts';

interface Step {
  readonly name: string;
  readonly command: readonly [Startable, ...string[]];
  readonly limitS: number;
  /** On the machine's own Node instead of the one of `npm ci`. */
  readonly onItsNode?: true;
}

/** The machine's own Node, or 22 where that is too old, runs all tests; 24 and 26 run those that can differ there. */
const NODES = ['own', '24', '26'].flatMap((name) => ['--node', name]);
/** npm, a script that any Node can run, passes this one on to what it starts. */
const WITH_NODE_22 = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };
const MINUTE_MS = 60_000;
/** A run takes less than 15 minutes on a quiet machine; a busy one may need longer. */
const LIMIT_MS = 60 * MINUTE_MS;

const npm = (limitS: number, script: string, ...args: readonly string[]): Step => ({
  name: script,
  command: ['npm', 'run', '--silent', script, ...(args.length === 0 ? [] : ['--', ...args])],
  limitS,
});

const task = (limitS: number, name: string, ...args: readonly string[]): Step => ({ ...npm(limitS, 'task', name, ...args), name });

const startedMs = performance.now();
const steps = new StepCounts();
/** Repeated at the end, where a reader of a long log looks first. */
const failures: string[] = [];
let stopped: string | undefined;
// On a signal, whoever started the current programs kills them; the remaining steps fail.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => (stopped ??= `stopped by ${signal}`));
setTimeout(() => {
  stopped = `stopped after its limit of ${LIMIT_MS / MINUTE_MS} minutes`;
  process.kill(process.pid, 'SIGTERM');
}, LIMIT_MS).unref();

const why = await whyNoBareMachine();
if (why !== undefined) say(`no root file system can be made here, so npm test runs on this machine itself and there is no image: ${why}`);
// What runs in parallel is not judged by time, and mostly waits for downloads and programs; the evidence has
// the machine to itself.
await together(
  [why === undefined ? { ...task(3000, 'test:bare', '--debian', '13', ...NODES), onItsNode: true } : npm(900, 'test')],
  [
    npm(120, 'format:check'),
    npm(300, 'lint'),
    npm(300, 'typecheck'),
    npm(600, 'test:package'),
    task(300, 'test:power', '--ports'),
    // Last: by then the other lane has made the root file system, and filled npm's cache, that its build uses.
    ...(why === undefined ? [task(1200, 'test:image')] : []),
  ],
);
await together([npm(1500, 'test:evidence')]);
for (const suite of ['long', 'load']) say(`not judged here, but by test:${suite}: ${testsOf(suite).join(', ')}`);
say(`${((performance.now() - startedMs) / MINUTE_MS).toFixed(1)} minutes`);
for (const failure of failures) say(failure);
process.exitCode = steps.close();

/** Lanes run in parallel, the steps of a lane in sequence. */
async function together(...lanes: readonly (readonly Step[])[]): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for (const step of lane) await steps.step(step.name, () => countsOfStep(step));
    }),
  );
}

async function countsOfStep({ name, command: [program, ...args], limitS, onItsNode }: Step): Promise<ReturnType<typeof countsOf>> {
  if (stopped !== undefined) throw new Error(stopped);
  const show = linesWith(`${name} | `);
  const ran = await run(program, args, { limitMs: limitS * 1000, show, ...(onItsNode ? {} : { env: WITH_NODE_22 }) });
  show('\n');
  if (ran.killed !== undefined) say(`${name}: ${ran.killed}`);
  const counts = countsOf(ran);
  failures.push(...failuresOf(ran).map((failure) => `failed: ${name} | ${failure}`));
  return counts;
}

function testsOf(suite: string): readonly string[] {
  const files = readdirSync(`test/${suite}`, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.test.ts'));
  return files.map((name) => name.replace('.test.ts', ''));
}

/** Prints whole lines, each with the name of its step: lines of several steps mix, and only our own last line is the count. */
function linesWith(prefix: string): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines.map(stripVTControlCharacters)) if (line.trim() !== '') say(prefix + line);
  };
}

/** Why the tests cannot run on a bare machine created here. */
async function whyNoBareMachine(): Promise<string | undefined> {
  const reason = await whyNoRoot();
  if (reason !== undefined) return reason;
  for (const command of ['test:bare', 'test:image']) {
    const { status, output, killed } = await run('node', ['test/task.ts', 'prepare', command], { limitMs: 5 * MINUTE_MS });
    if (status !== 0) return killed ?? output.trim();
  }
  return undefined;
}
