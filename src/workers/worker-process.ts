// A worker as the primary sees it: a child process that starts, answers questions, and ends.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Listening } from '../app/public-listener.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ProcessState } from '../app/process-state.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { Config } from '../config/config.ts';
import type { MetricsSnapshot, WorkerPlace } from './worker.ts';
import type { Readiness } from '../ops/readiness.ts';
import { WORKER_VARIABLE } from './messages.ts';
import type { AnswerValue, FromWorker, Question, StartFailure, ToWorker } from './messages.ts';

/** From the sources and from `dist/`. */
const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));
/** A worker that takes longer to answer counts as hung; probes give up after a second. */
const ANSWER_MS = 500;

export class WorkerProcess {
  /** Resolves when the worker is listening; rejects if it ends before that. */
  readonly listening: Promise<Listening>;
  /** Resolves with how it ended: `status 0`, `SIGKILL`. */
  readonly ended: Promise<string>;
  onHeartbeat: () => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, (answer: AnswerValue | undefined) => void>();
  #asked = 0;
  #isListening = false;

  constructor(config: Config, place: WorkerPlace) {
    const env = { ...process.env, [WORKER_VARIABLE]: String(process.pid) };
    // `advanced` serialization supports the maps in a configuration.
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = (this.#child = fork(MAIN, ['serve'], { env, serialization: 'advanced', stdio: [...stdio] }));
    const listening = Promise.withResolvers<Listening>();
    let failure: Error | undefined;
    this.listening = listening.promise;
    this.listening.catch(() => undefined);
    child.on('message', (message: FromWorker) => {
      switch (message.kind) {
        case 'heartbeat':
          return this.onHeartbeat();
        case 'listening':
          this.#isListening = true;
          return listening.resolve(message.listening);
        case 'failed':
          return void (failure = errorOf(message.error));
        case 'answer':
          return this.#questions.get(message.id)?.(message.value);
      }
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        listening.reject(failure ?? new Error(`a worker ended with ${how} before it was ready`));
        for (const settle of this.#questions.values()) settle(undefined);
        resolve(how);
      };
      child.once('exit', (status, signal) => end(signal ?? `status ${status}`));
      // `exit` is emitted for every process except one that could not be started.
      child.on('error', (error) => child.pid === undefined && end(error.message));
    });
    this.send({ kind: 'start', config, place });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: ToWorker): void {
    // A worker that is ending takes no messages; `ended` reports its end.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** `undefined` if it does not answer in time. */
  async readiness(): Promise<Readiness | undefined> {
    return (await this.#ask('ready')) as Readiness | undefined;
  }

  /** `undefined` if it does not answer in time. */
  async snapshot(): Promise<MetricsSnapshot | undefined> {
    return (await this.#ask('metrics')) as MetricsSnapshot | undefined;
  }

  /** `undefined` if it does not answer in time. */
  async state(): Promise<ProcessState | undefined> {
    return (await this.#ask('state')) as ProcessState | undefined;
  }

  /** `undefined` if it does not answer in time. */
  async recentRequests(): Promise<readonly RecentRequest[] | undefined> {
    return (await this.#ask('recent_requests')) as readonly RecentRequest[] | undefined;
  }

  /** Resolves when it knows; at once if it is still starting, and so remembers nothing. */
  async teamsChanged(): Promise<void> {
    if (this.#isListening) await this.#ask('teams_changed');
  }

  /** Resolves when it no longer accepts connections, or when the time is up. */
  async drain(withinMs: number): Promise<void> {
    await this.#ask('drain', withinMs);
  }

  /** SIGTERM makes it drain, or ends it at once if it is not serving yet. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async #ask(what: Question, withinMs = ANSWER_MS): Promise<AnswerValue | undefined> {
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<AnswerValue | undefined>();
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#questions.set(id, resolve);
    this.send({ kind: 'ask', id, what });
    const answer = await promise;
    clearTimeout(timer);
    this.#questions.delete(id);
    return answer;
  }
}

/** Recreates the worker's error, so that it is reported as it would be without workers. */
function errorOf({ name, message, lines }: StartFailure): Error {
  if (name === 'ConfigError') return new ConfigError(lines);
  return Object.assign(new Error(message), { name });
}
