// A worker of `serve --workers N`: serves callers, and follows the primary or its end.
import { once } from 'node:events';
import { ConfigError } from '../config/config-error.ts';
import { openJsonLog } from '../ops/json-log.ts';
import type { Log } from '../ports/log.ts';
import { freePortOf } from '../server/listener.ts';
import type { Listening } from './public-listener.ts';
import { openServing } from './serving.ts';
import { openIn, ProcessLife, stopAsked } from './until-stopped.ts';
import { HEARTBEAT_MS, WORKER_VARIABLE } from './worker-process.ts';
import type { WorkerAnswer, FromWorker, Question, StartFailure, ToWorker } from './worker-process.ts';

type Start = Extract<ToWorker, { kind: 'start' }>;

export function isWorker(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && env[WORKER_VARIABLE] === String(process.ppid);
}

/** Resolves when the worker has stopped. */
export async function runAsWorker(): Promise<void> {
  // Ctrl-C and a closed terminal signal the whole process group; only the primary reacts to them.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  sendHeartbeats();
  const start = await firstMessage();
  if (start === undefined) return;
  try {
    const life = new ProcessLife(openJsonLog({ isShared: true }), start.config.limits);
    const listening = await openIn(life, () => listen(start, life));
    const asked = Promise.race([stopAsked(life.log, ['SIGTERM']), primaryGone(life.log)]);
    send({ kind: 'listening', listening });
    const reason = await asked;
    life.log.info('a worker is stopping', { pid: process.pid, reason });
    await life.stopInTime();
  } catch (error) {
    send({ kind: 'failed', error: failureOf(error) });
    process.exitCode = 1;
  }
  // An open channel keeps the process alive. The listeners go: to them the primary would be gone.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

async function listen({ config, place: { port, first, number } }: Start, life: ProcessLife): Promise<Listening> {
  const serving = await openServing({ config, life, role: `worker-${number}` });
  const shared = first ? await freePortOf(config.listen.host, port) : port;
  const listening = await serving.listen({ docsUrl: config.service.docs_url, port: shared, exclusive: false });
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'replace') serving.replace(message.config);
    else if (message.kind === 'ask') void answer(message.id, async () => serving[message.what]());
  });
  return listening;
}

async function answer(id: number, ask: () => Promise<WorkerAnswer<Question>>): Promise<void> {
  send({ kind: 'answer', id, value: await ask() });
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

async function primaryGone(log: Log): Promise<string> {
  if (process.connected) await once(process, 'disconnect');
  log.warn('the primary process is gone: its workers stop');
  return 'primary gone';
}

function send(message: FromWorker): void {
  // A primary that is gone is detected by `disconnect`.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), lines: [] };
  return { name: error.name, message: error.message, lines: error instanceof ConfigError ? error.lines : [] };
}
