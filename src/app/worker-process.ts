// A worker as the primary sees it: a child process that starts, answers questions, beats and ends;
// and the messages between the two.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import type { Listening } from './public-listener.ts';
import type { Serving } from './serving.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';

/** From the sources and from `dist/`. */
const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));
/** A worker that takes longer to answer counts as hung; probes give up after a second. */
const ANSWER_MS = 500;

export class WorkerProcess {
  /** Resolves when the worker is listening; rejects if it ends before that. */
  readonly listening: Promise<Listening>;
  /** Resolves with how it ended: `status 0`, `SIGKILL`. */
  readonly ended: Promise<string>;
  /** When it last showed that it is alive, monotonic, and how long it may be silent. */
  sign = { atMs: performance.now(), limitMs: STARTING_MS };
  /** It is killed, because it was silent for too long. */
  isHung = false;
  readonly #child: ChildProcess;
  readonly #questions = new Map<number, (answer: WorkerAnswer<Question> | undefined) => void>();
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
          return void (this.sign = { atMs: performance.now(), limitMs: SILENT_MS });
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

  /** `undefined` if it does not answer in time; at once if it is still starting. */
  async ask<Q extends Question>(what: Q, withinMs = ANSWER_MS): Promise<WorkerAnswer<Q> | undefined> {
    if (!this.#isListening) return undefined;
    const id = ++this.#asked;
    const { promise, resolve } = Promise.withResolvers<WorkerAnswer<Question> | undefined>();
    const timer = setTimeout(() => resolve(undefined), withinMs);
    this.#questions.set(id, resolve);
    this.send({ kind: 'ask', id, what });
    const answer = await promise;
    clearTimeout(timer);
    this.#questions.delete(id);
    return answer as WorkerAnswer<Q> | undefined;
  }

  /** SIGTERM makes it drain, or ends it at once if it is not serving yet. */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#child.kill(signal);
  }
}

/** Recreates the worker's error, so that it is reported as it would be without workers. */
function errorOf({ name, message, lines }: StartFailure): Error {
  if (name === 'ConfigError') return new ConfigError(lines);
  return Object.assign(new Error(message), { name });
}

/** The port that a worker opens; 0 picks a free one, for the first worker. */
interface WorkerPlace {
  readonly port: number;
  /** The first worker checks that no other program uses the port. */
  readonly first: boolean;
  /** From 1. */
  readonly number: number;
}

/** What a worker can be asked. `drain` is answered when it no longer accepts connections. */
export type Question = 'readiness' | 'snapshot' | 'states' | 'recentRequests' | 'teamsChanged' | 'drain';

export type WorkerAnswer<Q extends Question> = Awaited<ReturnType<Serving[Q]>>;

export type ToWorker =
  | { readonly kind: 'start'; readonly config: Config; readonly place: WorkerPlace }
  | { readonly kind: 'replace'; readonly config: Config }
  | { readonly kind: 'ask'; readonly id: number; readonly what: Question };

export type FromWorker =
  /** Heartbeat: the event loop is running. */
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'listening'; readonly listening: Listening }
  | { readonly kind: 'failed'; readonly error: StartFailure }
  | { readonly kind: 'answer'; readonly id: number; readonly value: WorkerAnswer<Question> };

/** Why a worker did not start: the parts of the error shown to an operator. */
export interface StartFailure {
  readonly name: string;
  readonly message: string;
  /** Set for a `ConfigError`. */
  readonly lines: readonly string[];
}

/** Only for workers. With the primary's process id, so that no stray variable makes a worker. */
export const WORKER_VARIABLE = 'LINGATE_WORKER_OF';

/** How often a worker sends a heartbeat, and how often the primary looks for missing ones. */
export const HEARTBEAT_MS = 1_000;
/** So long silent, it is hung: it would hold its connections, and new ones, for ever. */
const SILENT_MS = 10_000;
/** Limit before the first heartbeat, because loading modules can take long on a slow machine. */
const STARTING_MS = 60_000;
