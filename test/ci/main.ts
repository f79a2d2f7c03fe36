// What must hold for every submission, step by step, each under a limit; the last line counts what passed and what failed.
import process from 'node:process';
import { stripVTControlCharacters } from 'node:util';
import { countsOf } from '../bare/counts.ts';
import { run } from '../bare/command.ts';
import { whyNoRoot } from '../bare/root-file-system.ts';
import { say, StepCounts } from '../bare/step-counts.ts';
import type { Startable } from '../support/start-program.ts';

interface Step {
  readonly name: string;
  readonly command: readonly [Startable, ...string[]];
  readonly limitS: number;
}

const MINUTE_MS = 60_000;
/** A run takes less than 25 minutes; a machine that is busy otherwise may take its time. */
const LIMIT_MS = 60 * MINUTE_MS;

const npm = (limitS: number, script: string, ...args: readonly string[]): Step => ({
  name: script,
  command: ['npm', 'run', '--silent', script, ...(args.length === 0 ? [] : ['--', ...args])],
  limitS,
});

const task = (limitS: number, name: string, ...args: readonly string[]): Step => ({ ...npm(limitS, 'task', name, ...args), name });

const startedMs = performance.now();
const steps = new StepCounts();
let stopped: string | undefined;
// What is under way is killed at a signal by what has started it; the steps that are left fail.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => (stopped ??= `stopped by ${signal}`));
setTimeout(() => {
  stopped = `stopped after its limit of ${LIMIT_MS / MINUTE_MS} minutes`;
  process.kill(process.pid, 'SIGTERM');
}, LIMIT_MS).unref();

const why = await whyNoBareMachine();
if (why !== undefined) say(`no root file system can be made here, so npm test runs on this machine itself and there is no image: ${why}`);
// What runs side by side is judged by no clock, or waits for downloads most of its time; the rest has the machine to itself.
await together(
  [why === undefined ? task(1800, 'test:bare', '--debian', '13') : npm(900, 'test')],
  [npm(120, 'format:check'), npm(300, 'lint'), npm(300, 'typecheck')],
);
await together(why === undefined ? [task(600, 'test:image')] : [], [npm(600, 'test:package')]);
await together([npm(1200, 'test:evidence'), task(900, 'test:power')]);
say(`${((performance.now() - startedMs) / MINUTE_MS).toFixed(1)} minutes`);
process.exitCode = steps.close();

/** Lanes side by side, the steps of a lane one after the other. */
async function together(...lanes: readonly (readonly Step[])[]): Promise<void> {
  await Promise.all(
    lanes.map(async (lane) => {
      for (const step of lane) await steps.step(step.name, () => countsOfStep(step));
    }),
  );
}

async function countsOfStep({ name, command: [program, ...args], limitS }: Step): Promise<ReturnType<typeof countsOf>> {
  if (stopped !== undefined) throw new Error(stopped);
  const show = linesWith(`${name} | `);
  const ran = await run(program, args, { limitMs: limitS * 1000, show });
  show('\n');
  if (ran.killed !== undefined) say(`${name}: ${ran.killed}`);
  return countsOf(ran);
}

/** Shows whole lines, each with the name of its step: lines of several steps mix, and only our own last line is a count. */
function linesWith(prefix: string): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines.map(stripVTControlCharacters)) if (line.trim() !== '') say(prefix + line);
  };
}

/** Why the tests cannot run on a bare machine made here. */
async function whyNoBareMachine(): Promise<string | undefined> {
  const reason = await whyNoRoot();
  if (reason !== undefined) return reason;
  for (const command of ['test:bare', 'test:image']) {
    const { status, output, killed } = await run('node', ['test/task.ts', 'prepare', command], { limitMs: 5 * MINUTE_MS });
    if (status !== 0) return killed ?? output.trim();
  }
  return undefined;
}
