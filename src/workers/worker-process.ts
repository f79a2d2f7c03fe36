// One worker as the primary sees it: a child process that starts, answers questions, and ends.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Listening } from '../app/public-listener.ts';
import { ConfigError } from '../config/config-error.ts';
import type { ProcessState } from '../app/process-state.ts';
import type { Config } from '../config/config.ts';
import type { MetricsSnapshot, WorkerPlace } from './worker.ts';
import { WORKER_VARIABLE } from './messages.ts';
import type { FromWorker, Question, StartFailure, ToWorker } from './messages.ts';

/** TypeScript in a checkout, JavaScript in a package. */
const MAIN = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));
/** A worker that takes longer to answer is taken for hanging; probes give up after a second. */
const ANSWER_MS = 500;

type WorkerAnswer = Extract<FromWorker, { kind: 'answer' }>['value'];

export class WorkerProcess {
  /** Resolves when it listens; rejects when it ends before. */
  readonly listening: Promise<Listening>;
  /** Resolves with what it ended with: `status 0`, `SIGKILL`. */
  readonly ended: Promise<string>;
  /** Called whenever it says that it turns. */
  onTurning: () => void = () => undefined;
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, (answer: WorkerAnswer | undefined) => void>();
  #asked = 0;

  constructor(config: Config, place: WorkerPlace) {
    const env = { ...process.env, [WORKER_VARIABLE]: String(process.pid) };
    // `advanced` serialization carries the maps of a configuration.
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const child = (this.#child = fork(MAIN, ['serve'], { env, serialization: 'advanced', stdio: [...stdio] }));
    const listening = Promise.withResolvers<Listening>();
    let failure: Error | undefined;
    this.listening = listening.promise;
    this.listening.catch(() => undefined);
    child.on('message', (message: FromWorker) => {
      switch (message.kind) {
        case 'turning':
          return this.onTurning();
        case 'listening':
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
      // `exit` is emitted for every process but one that could not be started.
      child.on('error', (error) => child.pid === undefined && end(error.message));
    });
    this.tell({ kind: 'start', config, place });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  tell(message: ToWorker): void {
    // A worker that is just ending takes no messages; `ended` reports its end.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  async ready(): Promise<boolean> {
    return (await this.#ask('ready')) === true;
  }

  /** `undefined` when it does not answer in time. */
  async snapshot(): Promise<MetricsSnapshot | undefined> {
    return (await this.#ask('metrics')) as MetricsSnapshot | undefined;
  }

  /** Likewise. */
  async state(): Promise<ProcessState | undefined> {
    return (await this.#ask('state')) as ProcessState | undefined;
  }

  /** Resolves when it accepts no connection any more, or does not say so in time. */
  async drain(withinMs: number): Promise<void> {
    await this.#ask('drain', withinMs);
  }

  /** SIGTERM lets it drain, or ends it at once while it does not serve yet. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }

  async #ask(what: Question, withinMs = ANSWER_MS): Promise<WorkerAnswer | undefined> {
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<WorkerAnswer | undefined>();
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#questions.set(id, resolve);
    this.tell({ kind: 'ask', id, what });
    const answer = await promise;
    clearTimeout(timer);
    this.#questions.delete(id);
    return answer;
  }
}

/** The worker's error made again, so that it is reported as it would be without workers. */
function errorOf({ name, message, lines }: StartFailure): Error {
  if (name === 'ConfigError') return new ConfigError(lines);
  return Object.assign(new Error(message), { name });
}
