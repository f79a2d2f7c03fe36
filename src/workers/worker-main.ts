// The worker's side of `serve --workers N`: follows the primary's messages, and stops gracefully if the primary is gone.
import { once } from 'node:events';
import { ConfigError } from '../config/config-error.ts';
import type { Log } from '../ports/log.ts';
import { startWorker } from './worker.ts';
import type { Worker } from './worker.ts';
import { stopAsked, stopInTime } from '../app/until-stopped.ts';
import { HEARTBEAT_MS } from './heartbeats.ts';
import { WORKER_VARIABLE } from './messages.ts';
import type { FromWorker, Question, StartFailure, AnswerValue, ToWorker } from './messages.ts';

type Start = Extract<ToWorker, { kind: 'start' }>;

export function isWorker(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && env[WORKER_VARIABLE] === String(process.ppid);
}

/** Resolves when the worker has stopped. `reportNewStore` is called once it is listening. */
export async function runAsWorker(reportNewStore: (place: string) => void): Promise<void> {
  // Ctrl-C and a closed terminal signal the whole process group; only the primary reacts to them.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  sendHeartbeats();
  const start = await firstMessage();
  if (start === undefined) return;
  try {
    const made: string[] = [];
    const worker = await startWorker(start.config, start.place, (place) => void made.push(place));
    for (const place of made) reportNewStore(place);
    obey(worker);
    const asked = Promise.race([stopAsked(worker.log, ['SIGTERM']), primaryGone(worker.log)]);
    send({ kind: 'listening', listening: worker.listening });
    const reason = await asked;
    worker.log.info('a worker is stopping', { pid: process.pid, reason });
    await stopInTime(worker, () => worker.stop());
  } catch (error) {
    send({ kind: 'failed', error: failureOf(error) });
    process.exitCode = 1;
  }
  // An open channel keeps the process alive. The `disconnect` listeners go first: to them it would mean that the primary is
  // gone.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

/** Every second, with at most one in flight: a suspended primary reads none. */
function sendHeartbeats(): void {
  let inFlight = false;
  const sendOne = (): void => {
    if (inFlight || !process.connected) return;
    inFlight = true;
    process.send?.({ kind: 'heartbeat' } satisfies FromWorker, undefined, undefined, () => (inFlight = false));
  };
  sendOne();
  setInterval(sendOne, HEARTBEAT_MS).unref();
}

/** `undefined` if the primary is gone before it has sent anything. */
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
        return void answerTo(worker, message.what).then((value) => send({ kind: 'answer', id: message.id, value }));
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

async function answerTo(worker: Worker, what: Question): Promise<AnswerValue> {
  switch (what) {
    case 'ready':
      return worker.readiness();
    case 'metrics':
      return worker.snapshot();
    case 'state':
      return worker.state();
    case 'recent_requests':
      return worker.recentRequests();
    case 'teams_changed':
      worker.teamsChanged();
      return true;
    case 'drain':
      await worker.drain();
      return true;
  }
}

function send(message: FromWorker): void {
  // A primary that is gone is detected by `disconnect`.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), lines: [] };
  return { name: error.name, message: error.message, lines: error instanceof ConfigError ? error.lines : [] };
}
