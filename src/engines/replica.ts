// One engine replica: its connection pool, the results of its attempts, and its health.
import type { AttemptFailure, EngineWork, FailureDetail, ReplicaHealth, UnusableAttempt } from '../ports/engine.ts';
import type { Pool } from './http1/pool.ts';
import { ReplicaStanding } from './replica-standing.ts';
import type { FailureTerms, StandingChange } from './replica-standing.ts';

/** Observes one replica, for metrics and the log. */
export interface ReplicaWatch {
  /** Called at the end of every attempt, with its duration. */
  attempted(outcome: AttemptFailure | 'usable', tookMs: number): void;
  /** Called after `attempted`, with the details of a failure. */
  failed(work: EngineWork, detail: FailureDetail): void;
  setAside(detail: FailureDetail, forMs: number): void;
  back(): void;
}

export class Replica {
  /** As configured, without a trailing slash; URLs with credentials are rejected. */
  readonly url: string;
  /** Equal for URLs with the same address. */
  readonly place: string;
  readonly wire: Pool;
  readonly standing = new ReplicaStanding();
  readonly #watch: ReplicaWatch | undefined;
  #usable = 0;
  #failed = 0;
  #usableAtMs: number | undefined = undefined;
  #lastFailure: { readonly failure: AttemptFailure; readonly atMs: number } | undefined = undefined;

  constructor(url: string, place: string, wire: Pool, watch: ReplicaWatch | undefined) {
    this.url = url;
    this.place = place;
    this.wire = wire;
    this.#watch = watch;
  }

  /** Counts a usable attempt. */
  usable(ticket: number, nowMs: number, startedMs: number): StandingChange {
    this.#usable++;
    this.#usableAtMs = nowMs;
    this.#watch?.attempted('usable', nowMs - startedMs);
    const change = this.standing.usable(ticket);
    if (change === 'back') this.#watch?.back();
    return change;
  }

  /** Counts an unusable attempt. */
  unusable(ticket: number, attempt: UnusableAttempt, work: EngineWork, terms: FailureTerms, startedMs: number): StandingChange {
    const { failure } = attempt;
    this.#watch?.attempted(failure, terms.nowMs - startedMs);
    // The caller disconnected, which is not a failure of the replica.
    if (failure !== 'cancelled') {
      this.#failed++;
      this.#lastFailure = { failure, atMs: terms.nowMs };
      this.#watch?.failed(work, attempt);
    }
    const change = this.standing.failed(ticket, attempt, terms);
    if (change === 'set aside') this.#watch?.setAside(attempt, this.standing.untilMs - terms.nowMs);
    return change;
  }

  /** Restores it without a trial. */
  restore(): void {
    if (!this.standing.aside) return;
    this.standing.restore();
    this.#watch?.back();
  }

  health(nowMs: number): ReplicaHealth {
    const last = this.#lastFailure;
    const { aside, untilMs } = this.standing;
    return {
      url: this.url,
      usable: this.#usable,
      failed: this.#failed,
      usableAgoMs: this.#usableAtMs === undefined ? undefined : nowMs - this.#usableAtMs,
      lastFailure: last === undefined ? undefined : { failure: last.failure, agoMs: nowMs - last.atMs },
      asideMs: aside ? Math.max(0, untilMs - nowMs) : undefined,
    };
  }
}
