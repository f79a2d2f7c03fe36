// lingate reload: sends the running gateway its SIGHUP, and prints what it has taken.
import { setTimeout as delay } from 'node:timers/promises';
import { pidSpace, RELOADS_PATH } from '../../app/reload.ts';
import type { Reloads } from '../../app/reload.ts';
import { CommandFailure, LISTEN_FLAGS } from '../command.ts';
import type { Command } from '../command.ts';
import { answerOf, OTHER_NAME, urlOf } from '../running-gateway.ts';

const RELOAD_MS_MAX = 30_000;
const LOOK_MS = 50;

const reload: Command = {
  name: 'reload',
  summary: 'Makes the running gateway read its configuration again.',
  about:
    'It finds the gateway by its ops listener. Run it on the same machine or in the same container, as the same user or root. If the ' +
    'configuration is refused, nothing changes and the exit status is 1.',
  flags: { ops: LISTEN_FLAGS['ops']! },
  examples: ['lingate reload', 'lingate reload --ops 127.0.0.1:9090 --json'],
  async run(context) {
    const { ops } = await context.config();
    const url = `${urlOf(ops, false)}${RELOADS_PATH}`;
    const before = await ask(url);
    if (before.space !== pidSpace())
      throw new CommandFailure(`the gateway at ${url} runs on another machine or in a container: run the command there`);
    hangUp(before.pid);
    const { latest } = await nextOf(url, before);
    const { taken, waiting, faults } = latest!;
    if (taken === undefined) throw new CommandFailure(`the configuration is refused and nothing has changed: ${faults.join('; ')}`);
    context.print({ ...taken, waiting }, () => {
      const lines = Object.entries(taken).map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`);
      const rest = waiting.length === 0 ? [] : [`These members have changed and wait for a restart: ${waiting.join(', ')}.`];
      return ['The gateway has reloaded its configuration.', ...lines, ...rest].join('\n');
    });
  },
};

async function ask(url: string): Promise<Reloads> {
  const answer = await answerOf(url).catch((error: NodeJS.ErrnoException) => {
    throw new CommandFailure(
      `no gateway answers at ${url} (${error.code ?? error.name}): start it, or if you have changed ops, give the address that it still has with --ops`,
    );
  });
  if (answer.status === 421) throw new CommandFailure(`the gateway at ${url} ${OTHER_NAME}`);
  const reloads = answer.status === 200 ? readReloads(answer.body) : undefined;
  if (reloads === undefined) {
    throw new CommandFailure(
      `what answers at ${url} cannot reload: it is waiting for its store, is a demo, or is another program; give the gateway's address with --ops`,
    );
  }
  return reloads;
}

/** `undefined` if it is none. A signal to a number below 1 would go to a group of processes. */
function readReloads(body: string): Reloads | undefined {
  try {
    const read = JSON.parse(body) as Partial<Reloads> | null;
    return Number.isInteger(read?.pid) && read!.pid! >= 1 && Number.isInteger(read!.count) ? (read as Reloads) : undefined;
  } catch {
    return undefined;
  }
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
  throw new CommandFailure('the gateway has not reloaded within 30 s; its log says why');
}

export const commands = [reload];
