// npm run test:bare: whether a checkout works on a machine that never saw it, tried on fresh root file systems of Debian.
import process from 'node:process';
import { readBareArguments, USAGE } from './arguments.ts';
import type { BareArguments } from './arguments.ts';
import { bareMachine } from './bare-machine.ts';
import type { BareMachine } from './bare-machine.ts';
import { run } from './command.ts';
import { machineSettings } from './machine-settings.ts';
import type { MachineSettings } from './machine-settings.ts';
import { whyNoRoot } from './root-file-system.ts';
import type { Debian } from './root-file-system.ts';
import { DIFFERS_BY_NODE, demoAnswers, runSuite, saysItsNode } from './stranger.ts';
import { say, StepCounts } from './step-counts.ts';
import { countsOf } from './counts.ts';
import type { Counts } from './counts.ts';

type Step = (name: string, work: () => Promise<Counts | void>) => Promise<void>;

/** All of it, for one release and for both. */
const LIMIT_MS = 50 * 60_000;

process.exitCode = await main();

async function main(): Promise<number> {
  let asked: BareArguments;
  try {
    asked = readBareArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`test:bare: ${(error as Error).message}\nusage: ${USAGE}\n`);
    return 2;
  }
  const why = await whyNoRoot();
  if (why !== undefined) {
    process.stderr.write(`test:bare: ${why}\n`);
    return 1;
  }
  let stopped: string | undefined;
  // Whatever is under way is killed at a signal by what has started it; then the step fails, and what was made is removed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => (stopped ??= `stopped by ${signal}`));
  const limit = setTimeout(() => {
    stopped = `stopped after its limit of ${LIMIT_MS / 60_000} minutes`;
    process.kill(process.pid, 'SIGTERM');
  }, LIMIT_MS);
  const steps = new StepCounts();
  const settings = await machineSettings();
  await sayWhatIsTried();
  for (const debian of asked.debians) if (stopped === undefined) await tryOn(debian, settings, asked, steps, () => stopped);
  clearTimeout(limit);
  if (stopped !== undefined) say(`test:bare: ${stopped}`);
  const status = steps.close();
  return stopped === undefined ? status : 1;
}

async function tryOn(
  debian: Debian,
  settings: MachineSettings,
  asked: BareArguments,
  steps: StepCounts,
  stopped: () => string | undefined,
): Promise<void> {
  let machine: BareMachine | undefined;
  const step: Step = async (name, work) => {
    if (stopped() === undefined) await steps.step(`Debian ${debian}: ${name}`, work);
  };
  try {
    await step('a fresh root file system', async () => {
      machine = await bareMachine(debian, settings);
    });
    if (machine === undefined) return;
    const made = machine;
    for (const index of asked.nodes.keys()) await tryNode(made, index, asked, step);
  } finally {
    machine?.remove();
  }
}

async function tryNode(machine: BareMachine, index: number, { nodes, suites }: BareArguments, step: Step): Promise<void> {
  const node = nodes[index]!;
  // Without a word of what was asked for, it is whatever runs npm here.
  const on = node === 'own' ? '' : `Node ${node}: `;
  if (node !== 'own') await step(`${on}it is put there`, () => machine.useNode(node));
  if (suites.length === 0) {
    // What npm has installed runs on any Node: nothing is compiled. Further ones use it.
    const install = index === 0 ? 'npm ci && ' : '';
    await step(`${on}${install}npm start: the demo translates`, () => demoAnswers(machine, install));
    await step(`${on}npm scripts run on it where they may`, () => saysItsNode(machine, node));
    // That `npm ci` replaces an installation is shown by a Node that is alone.
    const commands = index > 0 ? DIFFERS_BY_NODE : [nodes.length === 1 ? 'npm ci && npm test' : 'npm test'];
    for (const command of commands) await step(on + command, async () => countsOf(await runSuite(machine, command)));
  }
  for (const suite of suites) {
    const command = `npm ci && npm run ${suite}`;
    await step(on + command, async () => countsOf(await runSuite(machine, command)));
  }
}

async function sayWhatIsTried(): Promise<void> {
  const { output } = await run('git', ['log', '-1', '--format=%h %s'], { limitMs: 10_000 });
  const { output: changed } = await run('git', ['status', '--porcelain'], { limitMs: 10_000 });
  say(`A clone of HEAD: ${output.trim()}${changed === '' ? '' : ' (what is not committed is not in it)'}`);
}
