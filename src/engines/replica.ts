// One of the engine's replicas: its connection pool, how its attempts have ended, and until when it is tried last.
import type { Attempt, AttemptFailure, ReplicaHealth } from '../ports/engine.ts';
import type { Pool } from './http1/pool.ts';

/** For how long a replica that could not be connected to is tried after the others. */
const LAST_MS = 1000;

export class Replica {
  readonly href: string;
  readonly wire: Pool;
  /** Until this moment it is tried after the others. */
  lastUntilMs = -Infinity;
  #usable = 0;
  #failed = 0;
  #usableAtMs: number | undefined = undefined;
  #lastFailure: { readonly failure: AttemptFailure; readonly atMs: number } | undefined = undefined;

  constructor(href: string, wire: Pool) {
    this.href = href;
    this.wire = wire;
  }

  /** Counts an attempt on it. One that could not connect puts the replica behind the others for `LAST_MS`. */
  remember(attempt: Attempt, nowMs: number): void {
    if (attempt.kind === 'usable') {
      this.#usable++;
      this.#usableAtMs = nowMs;
      return;
    }
    const { failure } = attempt;
    if (failure === 'connect') this.lastUntilMs = nowMs + LAST_MS;
    // The caller has left: that is no failure of the replica.
    if (failure === 'cancelled') return;
    this.#failed++;
    this.#lastFailure = { failure, atMs: nowMs };
  }

  health(nowMs: number): ReplicaHealth {
    const last = this.#lastFailure;
    return {
      url: this.href,
      usable: this.#usable,
      failed: this.#failed,
      usableAgoMs: this.#usableAtMs === undefined ? undefined : nowMs - this.#usableAtMs,
      lastFailure: last === undefined ? undefined : { failure: last.failure, agoMs: nowMs - last.atMs },
    };
  }
}
