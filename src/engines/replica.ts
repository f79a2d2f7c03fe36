// One of the engine's replicas: its connection pool, how its attempts have ended, and whether it is to be trusted.
import type { AttemptFailure, EngineWork, FailureDetail, ReplicaHealth, UnusableAttempt } from '../ports/engine.ts';
import type { Pool } from './http1/pool.ts';
import { ReplicaStanding } from './replica-standing.ts';
import type { FailureTerms, StandingChange } from './replica-standing.ts';

/** What becomes of one replica, for metrics and the log. */
export interface ReplicaWatch {
  /** At the end of every attempt. */
  attempted(outcome: AttemptFailure | 'usable'): void;
  /** After `attempted`, with what is known of a failure. */
  failed(work: EngineWork, detail: FailureDetail): void;
  setAside(detail: FailureDetail, forMs: number): void;
  back(): void;
}

export class Replica {
  /** As the configuration has it, without a slash at the end; URLs with credentials are refused. */
  readonly url: string;
  /** Equal for URLs that lead to the same place. */
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

  /** Counts an attempt on it that gave something usable. */
  usable(ticket: number, nowMs: number): StandingChange {
    this.#usable++;
    this.#usableAtMs = nowMs;
    this.#watch?.attempted('usable');
    const change = this.standing.usable(ticket);
    if (change === 'back') this.#watch?.back();
    return change;
  }

  /** Counts one that did not. */
  unusable(ticket: number, attempt: UnusableAttempt, work: EngineWork, terms: FailureTerms): StandingChange {
    const { failure } = attempt;
    this.#watch?.attempted(failure);
    // The caller has left: that is no failure of the replica.
    if (failure !== 'cancelled') {
      this.#failed++;
      this.#lastFailure = { failure, atMs: terms.nowMs };
      this.#watch?.failed(work, attempt);
    }
    const change = this.standing.failed(ticket, attempt, terms);
    if (change === 'set aside') this.#watch?.setAside(attempt, this.standing.untilMs - terms.nowMs);
    return change;
  }

  /** Brings it back without a trial. */
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
