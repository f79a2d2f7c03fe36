// What the primary process and its workers say to each other; values that survive structured cloning.
import type { Config } from '../config/config.ts';
import type { Listening } from '../app/public-listener.ts';
import type { ProcessState } from '../app/process-state.ts';
import type { MetricsSnapshot, WorkerPlace } from './worker.ts';

/** What a worker answers a question with. */
export type Told = boolean | MetricsSnapshot | ProcessState;

/** `drain` is answered when it is done. */
export type Question = 'ready' | 'metrics' | 'state' | 'drain';

export type ToWorker =
  | { readonly kind: 'start'; readonly config: Config; readonly place: WorkerPlace }
  | { readonly kind: 'replace'; readonly config: Config }
  | { readonly kind: 'ask'; readonly id: number; readonly what: Question };

export type FromWorker =
  /** The event loop turns. */
  | { readonly kind: 'turning' }
  | { readonly kind: 'listening'; readonly listening: Listening }
  | { readonly kind: 'failed'; readonly error: StartFailure }
  | { readonly kind: 'answer'; readonly id: number; readonly value: Told };

/** Why a worker did not start, as much of the error as an operator is told. */
export interface StartFailure {
  readonly name: string;
  readonly message: string;
  /** Of a `ConfigError`. */
  readonly lines: readonly string[];
}

/** Only workers have it; it names the primary's process id, so that no stray variable makes a worker. */
export const WORKER_VARIABLE = 'LINGATE_WORKER_OF';
