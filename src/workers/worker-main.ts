// The worker's side of `serve --workers N`: does what the primary says, and ends in good order when the primary is gone.
import { once } from 'node:events';
import process from 'node:process';
import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../ports/log.ts';
import { startWorker } from './worker.ts';
import type { Worker } from './worker.ts';
import { stopAsked, stopInTime } from '../app/until-stopped.ts';
import { TURNING_MS } from './turning.ts';
import { WORKER_VARIABLE } from './messages.ts';
import type { FromWorker, Question, StartFailure, Told, ToWorker } from './messages.ts';

type Start = Extract<ToWorker, { kind: 'start' }>;

export function isWorker(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && env[WORKER_VARIABLE] === String(process.ppid);
}

/** Resolves when the worker has stopped. `tellNewStore` is called once it listens. */
export async function runAsWorker(tellNewStore: (place: string) => void): Promise<void> {
  // Ctrl-C and a closed terminal reach the whole group; what they mean is for the primary to say.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  sayTurning();
  const start = await firstMessage();
  if (start === undefined) return;
  try {
    const made: string[] = [];
    const worker = await startWorker(start.config, start.place, (place) => void made.push(place));
    for (const place of made) tellNewStore(place);
    obey(worker);
    const asked = Promise.race([stopAsked(worker.log, ['SIGTERM']), primaryGone(worker.log)]);
    tell({ kind: 'listening', listening: worker.listening });
    const reason = await asked;
    worker.log.info('a worker is stopping', { pid: process.pid, reason });
    await stopInTime(worker, () => worker.stop());
  } catch (error) {
    tell({ kind: 'failed', error: failureOf(error) });
    process.exitCode = 1;
  }
  // An open channel keeps the process alive. `disconnect` is not listened to any more: it would mean that the primary is gone.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

/** Every second. At most one is on its way: a primary that is stopped itself reads none. */
function sayTurning(): void {
  let underWay = false;
  const say = (): void => {
    if (underWay || !process.connected) return;
    underWay = true;
    process.send?.({ kind: 'turning' } satisfies FromWorker, undefined, undefined, () => (underWay = false));
  };
  say();
  setInterval(say, TURNING_MS).unref();
}

/** `undefined` when the primary is gone before it has said anything. */
function firstMessage(): Promise<Start | undefined> {
  return new Promise((resolve) => {
    process.once('disconnect', () => resolve(undefined));
    process.once('message', (message: ToWorker) => resolve(message.kind === 'start' ? message : undefined));
  });
}

function obey(worker: Worker): void {
  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'replace':
        return worker.replace(message.config);
      case 'ask':
        return void answer(worker, message.id, message.what);
      case 'start':
        return undefined;
    }
  });
}

async function primaryGone(log: Log): Promise<string> {
  if (process.connected) await once(process, 'disconnect');
  log.warn('the primary process is gone: its workers stop');
  return 'primary gone';
}

async function answer(worker: Worker, id: number, what: Question): Promise<void> {
  tell({ kind: 'answer', id, value: await answerTo(worker, what) });
}

async function answerTo(worker: Worker, what: Question): Promise<Told> {
  switch (what) {
    case 'ready':
      return worker.ready();
    case 'metrics':
      return worker.snapshot();
    case 'state':
      return worker.state();
    case 'drain':
      await worker.drain();
      return true;
  }
}

function tell(message: FromWorker): void {
  // A primary that is gone is noticed by its `disconnect`.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), lines: [] };
  return { name: error.name, message: error.message, lines: error instanceof ConfigError ? error.lines : [] };
}
