// Whether a replica is to be trusted: set aside after failures, tried by one request when its time is over, brought back by a usable answer.
import type { AttemptFailure, UnusableAttempt } from '../ports/engine.ts';

/** Failures in a row after which a replica is set aside. */
const FAILURES_MAX = 3;
/** So that shares of a failure, added up, reach the limit in spite of rounding. */
const ROUNDING = 1e-9;
const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
const NO_TRIAL = -1;

/** Too many requests, and not available: an engine that says so is not to be asked again at once. */
const OVERLOADED: readonly (number | undefined)[] = [429, 503];

/** What proves nothing of a replica: the caller left, our own connections were all in use, or it does not have the languages. */
const INNOCENT: readonly AttemptFailure[] = ['cancelled', 'busy', 'unsupported_pair'];

/** What an attempt has changed. */
export type StandingChange = 'set aside' | 'back' | undefined;

/** How a failed attempt is judged. */
export interface FailureTerms {
  readonly nowMs: number;
  /** The wall clock, for a `Retry-After` that is a date. */
  readonly wallMs: number;
  /** Of the time that the engine may take: less than 1 for an attempt under a shorter deadline. */
  readonly deadlineShare: number;
  /** There is no other replica: it is not set aside, but its failures are remembered. */
  readonly lone: boolean;
}

export class ReplicaStanding {
  /** Gets requests only when there is no other replica, but for a trial. */
  aside = false;
  /** While it is aside: until when. */
  untilMs = 0;
  /** How often it has been set aside without a usable answer in between. */
  times = 0;
  /** In a row; an attempt under a shorter deadline is a share of one. */
  #failures = 0;
  /** Handed to each attempt at its beginning, and raised where older attempts stop to prove anything. */
  #ticket = 0;
  /** The oldest ticket that still counts. */
  #since = 0;
  /** Of the one attempt that tries it while it is aside. */
  #trial = NO_TRIAL;

  /** To be called when an attempt begins; what it gives goes to `usable` or `failed` at the end. */
  begin(nowMs: () => number): number {
    if (!this.aside || !this.isDue(nowMs())) return this.#ticket;
    this.#trial = this.#ticket + 1;
    this.#ticket += 2;
    return this.#trial;
  }

  /** Aside, its time over, and not being tried. */
  isDue(nowMs: number): boolean {
    return this.aside && this.#trial === NO_TRIAL && this.untilMs <= nowMs;
  }

  usable(ticket: number): StandingChange {
    if (!this.aside) {
      this.#failures = 0;
      return undefined;
    }
    // Begun before it was set aside: an engine that refuses some of its requests still answers others.
    if (ticket < this.#since) return undefined;
    this.restore();
    return 'back';
  }

  failed(ticket: number, attempt: UnusableAttempt, terms: FailureTerms): StandingChange {
    if (this.aside) {
      if (ticket === this.#trial) this.#failTrial(attempt, terms);
      return undefined;
    }
    if (ticket < this.#since || isInnocent(attempt)) return undefined;
    this.#failures += attempt.failure === 'timeout' ? terms.deadlineShare : 1;
    const atOnce = attempt.failure === 'connect' || OVERLOADED.includes(attempt.status);
    if (terms.lone || (!atOnce && this.#failures < FAILURES_MAX - ROUNDING)) return undefined;
    this.#setAside(attempt, terms);
    return 'set aside';
  }

  /** As if it had never failed. */
  restore(): void {
    this.aside = false;
    this.times = 0;
    this.#failures = 0;
    this.#trial = NO_TRIAL;
    this.#since = ++this.#ticket;
  }

  #failTrial(attempt: UnusableAttempt, terms: FailureTerms): void {
    this.#trial = NO_TRIAL;
    // Another request has to try it, but not the very next one: callers who leave soon would all wait for it in vain.
    if (isInnocent(attempt)) this.untilMs = terms.nowMs + FIRST_MS;
    else this.#setAside(attempt, terms);
  }

  #setAside(attempt: UnusableAttempt, { nowMs, wallMs }: FailureTerms): void {
    this.aside = true;
    this.times++;
    const ownMs = FIRST_MS * 2 ** Math.min(this.times - 1, 5);
    this.untilMs = nowMs + Math.min(retryAfterMs(attempt.retryAfter, wallMs) ?? ownMs, LONGEST_MS);
    this.#since = ++this.#ticket;
  }
}

/** Also a bug of the adapter that showed before the replica had answered anything. */
function isInnocent({ failure, status }: UnusableAttempt): boolean {
  return INNOCENT.includes(failure) || (failure === 'internal' && status === undefined);
}

/** Seconds or an HTTP date; `undefined` for what is neither, and for a moment that is not to come. */
export function retryAfterMs(value: string | undefined, wallMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - wallMs;
  return ms > 0 ? ms : undefined;
}
