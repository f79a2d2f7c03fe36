// lingate reload: sends the running gateway its SIGHUP, and prints what it has taken.
import { setTimeout as delay } from 'node:timers/promises';
import { pidSpace, RELOADS_PATH } from '../../app/reload.ts';
import type { Reloads } from '../../app/reload.ts';
import { reachedAt } from '../../config/network-address.ts';
import { CommandFailure, LISTEN_FLAGS } from '../command.ts';
import type { Command } from '../command.ts';

const ANSWER_MS = 5000;
const RELOAD_MS_MAX = 30_000;
const LOOK_MS = 50;

export const reload: Command = {
  usage: '[--ops HOST:PORT]',
  about:
    'Finds the gateway by its ops listener, and must run on the same machine, in the same container, as the same user or root. Exits ' +
    'with status 1, and nothing has changed, if the configuration is refused.',
  flags: { ops: LISTEN_FLAGS['ops']! },
  examples: ['lingate reload', 'lingate reload --ops 127.0.0.1:9090 --json'],
  async run(context) {
    const { ops } = await context.config();
    const url = `http://${reachedAt(ops)}${RELOADS_PATH}`;
    const before = await ask(url);
    if (before.space !== pidSpace())
      throw new CommandFailure(`the gateway at ${url} runs on another machine or in a container: run the command there`);
    hangUp(before.pid);
    const { latest } = await nextOf(url, before);
    const { taken, waiting, faults } = latest!;
    if (taken === undefined) throw new CommandFailure(`configuration refused, all stays as it was: ${faults.join('; ')}`);
    context.print({ ...taken, waiting }, () => {
      const lines = Object.entries(taken).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`);
      const rest = waiting.length === 0 ? [] : [`These members have changed and wait for a restart: ${waiting.join(', ')}.`];
      return ['The gateway has reloaded its configuration.', ...lines, ...rest].join('\n');
    });
  },
};

async function ask(url: string): Promise<Reloads> {
  let answer: Response;
  try {
    answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
  } catch {
    throw new CommandFailure(`no gateway answers at ${url}: is it running, and is ops the address that it has?`);
  }
  const reloads = answer.ok ? ((await answer.json().catch(() => null)) as Partial<Reloads> | null) : null;
  // A signal to a number below 1 would go to a group of processes.
  if (!Number.isInteger(reloads?.pid) || reloads!.pid! < 1 || typeof reloads!.count !== 'number')
    throw new CommandFailure(
      `what answers at ${url} is no gateway that takes a reload: give its ops address by --ops or in the configuration`,
    );
  return reloads as Reloads;
}

function hangUp(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch {
    throw new CommandFailure(`the process ${pid} cannot be signalled: run the command as the user that the gateway runs as`);
  }
}

async function nextOf(url: string, before: Reloads): Promise<Reloads> {
  const untilMs = performance.now() + RELOAD_MS_MAX;
  while (performance.now() < untilMs) {
    const now = await ask(url);
    if (now.count > before.count) return now;
    await delay(LOOK_MS);
  }
  throw new CommandFailure('the gateway has not reloaded within 30 s: its log says why');
}
