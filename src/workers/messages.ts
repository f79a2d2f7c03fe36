// The messages between the primary process and its workers; all values survive structured cloning.
import type { Config } from '../config/config.ts';
import type { Listening } from '../app/public-listener.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { ProcessState } from '../app/process-state.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { MetricsSnapshot, WorkerPlace } from './worker.ts';

/** A worker's answer to a question. */
export type AnswerValue = true | Readiness | MetricsSnapshot | ProcessState | readonly RecentRequest[];

/** `drain` is answered when it has finished. `teams_changed` tells that the primary has changed a team or a key. */
export type Question = 'ready' | 'metrics' | 'state' | 'recent_requests' | 'teams_changed' | 'drain';

export type ToWorker =
  | { readonly kind: 'start'; readonly config: Config; readonly place: WorkerPlace }
  | { readonly kind: 'replace'; readonly config: Config }
  | { readonly kind: 'ask'; readonly id: number; readonly what: Question };

export type FromWorker =
  /** Heartbeat: the event loop is running. */
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'listening'; readonly listening: Listening }
  | { readonly kind: 'failed'; readonly error: StartFailure }
  | { readonly kind: 'answer'; readonly id: number; readonly value: AnswerValue };

/** Why a worker did not start: the parts of the error shown to an operator. */
export interface StartFailure {
  readonly name: string;
  readonly message: string;
  /** Set for a `ConfigError`. */
  readonly lines: readonly string[];
}

/** Only set for workers. Contains the primary's process id, so that a stray variable does not turn a process into a worker. */
export const WORKER_VARIABLE = 'LINGATE_WORKER_OF';
