// One engine replica: its connection pool, the results of its attempts, and its health: set aside
// after failures, tried again by a single request, and restored by a usable answer. And the
// rotation that selects one of several.
import { meaningOf } from '../domain/attempt-failure.ts';
import type { AttemptFailure, EngineWork, FailureDetail, ReplicaHealth, UnusableAttempt } from '../ports/engine.ts';
import type { Pool } from './http1/pool.ts';

/** Consecutive failures after which a replica is set aside. */
const FAILURES_MAX = 3;
/** Tolerance, so that fractional failures add up to the limit despite rounding. */
const ROUNDING = 1e-9;
const FIRST_MS = 1000;
const LONGEST_MS = 30_000;
const NO_TRIAL = -1;

/** Too many requests, and unavailable: such an engine must not be called again at once. */
const OVERLOADED: readonly (number | undefined)[] = [429, 503];

/** An engine gets detection by a restart, after which callers should not wait for long. */
const NO_DETECTION_KNOWN_MS = 60_000;

/** Observes one replica, for metrics and the log. */
export interface ReplicaWatch {
  /** Called at the end of every attempt, with its duration. */
  attempted(outcome: AttemptFailure | 'usable', tookMs: number): void;
  /** Called after `attempted`, with the details of a failure. */
  failed(work: EngineWork, detail: FailureDetail): void;
  setAside(detail: FailureDetail, forMs: number): void;
  back(): void;
}

/** What a replica judges its attempts by. */
export interface ReplicaTerms {
  /** A monotonic clock. */
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  /** The engine's own timeout. */
  readonly timeoutMs: number;
}

export class Replica {
  /** As configured, without a trailing slash; URLs with credentials are rejected. */
  readonly url: string;
  /** Equal for URLs with the same address. */
  readonly place: string;
  readonly wire: Pool;
  readonly standing = new ReplicaStanding();
  readonly #terms: ReplicaTerms;
  readonly #watch: ReplicaWatch | undefined;
  /** There is no other: it gets every request, and is never shown as set aside. */
  #isLone = false;
  #usable = 0;
  #failed = 0;
  #usableAtMs: number | undefined = undefined;
  #reached: boolean | undefined = undefined;
  #noDetectionUntilMs = -Infinity;
  #lastFailure: { readonly detail: FailureDetail; readonly atMs: number } | undefined = undefined;

  constructor(url: string, place: string, wire: Pool, terms: ReplicaTerms, watch: ReplicaWatch | undefined) {
    this.url = url;
    this.place = place;
    this.wire = wire;
    this.#terms = terms;
    this.#watch = watch;
  }

  /** Counts an attempt that has ended. `failed`: what made it unusable. */
  ended(ticket: number, startedMs: number, failed: UnusableAttempt | undefined, work: EngineWork): void {
    const nowMs = this.#terms.nowMs();
    const wasAside = this.standing.aside;
    this.#watch?.attempted(failed === undefined ? 'usable' : failed.failure, nowMs - startedMs);
    if (failed === undefined) {
      this.#usable++;
      this.#usableAtMs = nowMs;
      this.#reached = true;
      this.standing.usable(ticket);
    } else {
      this.#failedAt(nowMs, ticket, failed, work);
    }
    const { aside, untilMs } = this.standing;
    if (aside === wasAside || this.#isLone) return;
    if (wasAside) this.#watch?.back();
    else this.#watch?.setAside(failed!, untilMs - nowMs);
  }

  #failedAt(nowMs: number, ticket: number, attempt: UnusableAttempt, work: EngineWork): void {
    const { failure } = attempt;
    const { wallMs, timeoutMs } = this.#terms;
    // The caller disconnected, which is not a failure of the replica.
    if (failure !== 'cancelled') {
      this.#failed++;
      this.#lastFailure = { detail: attempt, atMs: nowMs };
      if (failure === 'connect') this.#reached = false;
      if (failure === 'no_detection') this.#noDetectionUntilMs = nowMs + NO_DETECTION_KNOWN_MS;
      this.#watch?.failed(work, attempt);
    }
    const deadlineShare = Math.min(1, (work.attemptMs ?? timeoutMs) / timeoutMs);
    this.standing.failed(ticket, attempt, { nowMs, wallMs: wallMs(), deadlineShare });
  }

  /** Of a trial without a request. It does not set aside: a request may succeed all the same. */
  tried(failure: FailureDetail | undefined): void {
    this.#reached = failure === undefined;
    if (failure !== undefined) this.#lastFailure = { detail: failure, atMs: this.#terms.nowMs() };
    // The last failure was a trial's.
    else if (this.#failed === 0) this.#lastFailure = undefined;
  }

  /** Whether an attempt within the last minute has shown that it detects no languages. */
  cannotDetect(nowMs: number): boolean {
    return nowMs < this.#noDetectionUntilMs;
  }

  /** The engine's URLs were read again. An only replica begins anew, as does one that was it. */
  renew(isLone: boolean): void {
    const isBack = isLone && !this.#isLone && this.standing.aside;
    if (isLone || this.#isLone) this.standing.restore();
    this.#isLone = isLone;
    // The next text without its language is sent to it again.
    this.#noDetectionUntilMs = -Infinity;
    if (isBack) this.#watch?.back();
  }

  health(): ReplicaHealth {
    const nowMs = this.#terms.nowMs();
    const last = this.#lastFailure;
    const { aside, untilMs } = this.standing;
    return {
      url: this.url,
      usable: this.#usable,
      failed: this.#failed,
      usableAgoMs: this.#usableAtMs === undefined ? undefined : nowMs - this.#usableAtMs,
      lastFailure: last === undefined ? undefined : { ...shownOf(last.detail), agoMs: nowMs - last.atMs },
      asideMs: aside && !this.#isLone ? Math.max(0, untilMs - nowMs) : undefined,
      reached: this.#reached,
    };
  }
}

/** Without what an adapter has thrown, which does not survive structured cloning. */
function shownOf({ failure, status, cause }: FailureDetail): Pick<FailureDetail, 'failure' | 'status' | 'cause'> {
  return { failure, status, cause };
}

/** The context in which a failed attempt is judged. */
interface FailureTerms {
  readonly nowMs: number;
  /** The wall clock, for a `Retry-After` that is a date. */
  readonly wallMs: number;
  /** Of the engine's timeout: less than 1 for an attempt with a shorter deadline. */
  readonly deadlineShare: number;
}

export class ReplicaStanding {
  /** Receives requests only if there is no other replica, except for a trial. */
  aside = false;
  /** When its current time aside ends. */
  untilMs = 0;
  /** How often it was set aside without a usable answer in between. */
  times = 0;
  /** Consecutive failures; an attempt with a shorter deadline counts as a fraction. */
  #failures = 0;
  /** Each attempt gets it at its start; increased when older ones no longer prove anything. */
  #ticket = 0;
  /** The oldest ticket that still counts. */
  #since = 0;
  /** The ticket of the single trial attempt while it is set aside. */
  #trial = NO_TRIAL;

  /** An attempt begins; pass the returned ticket to `usable` or `failed` at its end. */
  begin(nowMs: () => number): number {
    if (!this.aside || !this.isDue(nowMs())) return this.#ticket;
    this.#trial = this.#ticket + 1;
    this.#ticket += 2;
    return this.#trial;
  }

  /** Set aside, with its time over and no trial in progress. */
  isDue(nowMs: number): boolean {
    return this.aside && this.#trial === NO_TRIAL && this.untilMs <= nowMs;
  }

  usable(ticket: number): void {
    if (!this.aside) this.#failures = 0;
    // Otherwise it began before that: an engine that refuses some requests still answers others.
    else if (ticket >= this.#since) this.restore();
  }

  failed(ticket: number, attempt: UnusableAttempt, terms: FailureTerms): void {
    if (this.aside) {
      if (ticket === this.#trial) this.#failTrial(attempt, terms);
      return;
    }
    if (ticket < this.#since || isInconclusive(attempt)) return;
    this.#failures += attempt.failure === 'timeout' ? terms.deadlineShare : 1;
    const atOnce = attempt.failure === 'connect' || OVERLOADED.includes(attempt.status);
    if (atOnce || this.#failures >= FAILURES_MAX - ROUNDING) this.#setAside(attempt, terms);
  }

  /** Resets it as if it had never failed. */
  restore(): void {
    this.aside = false;
    this.times = 0;
    this.#failures = 0;
    this.#trial = NO_TRIAL;
    this.#since = ++this.#ticket;
  }

  #failTrial(attempt: UnusableAttempt, terms: FailureTerms): void {
    this.#trial = NO_TRIAL;
    // Another request tries it, not the very next: callers who leave would keep it in trials.
    if (isInconclusive(attempt)) this.untilMs = terms.nowMs + FIRST_MS;
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

/** Also covers a bug in the adapter that occurred before the replica answered anything. */
function isInconclusive({ failure, status }: UnusableAttempt): boolean {
  return meaningOf(failure).inconclusive === true || (failure === 'internal' && status === undefined);
}

/** Seconds or an HTTP date; `undefined` if it is neither, or not in the future. */
function retryAfterMs(value: string | undefined, wallMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - wallMs;
  return ms > 0 ? ms : undefined;
}

/** An engine that gets first attempts tries a due replica within this time. */
const OVERDUE_MS = 1000;

interface Rotated {
  readonly standing: ReplicaStanding;
}

const isAside = ({ standing }: Rotated): boolean => standing.aside;

/** Lower ranks are tried first: 0 at once, and of those set aside the ones with fewer times. */
type Rank = (standing: ReplicaStanding) => number;

const healthyFirst: Rank = ({ aside, times }) => (aside ? times : 0);
/** Behind every healthy one, and before any that has been set aside. */
const BETWEEN = 0.5;

export class Rotation<T extends Rotated> {
  /** At least one, when it is used. */
  members: readonly T[] = [];
  readonly #nowMs: () => number;
  /** Where to look first; second attempts must not advance the rotation of first ones. */
  readonly #turns = { first: 0, second: 0 };

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** One that is due for a trial, or the next healthy one. */
  first(): T {
    return this.#dueSince(0) ?? this.#next('first', healthyFirst);
  }

  /** A healthy one other than `previous`; `previous` again rather than one that is set aside. */
  second(previous: T): T {
    const again = previous.standing.aside ? Infinity : BETWEEN;
    return this.#next('second', (standing) => (standing === previous.standing ? again : healthyFirst(standing)));
  }

  /** After a failure elsewhere: a healthy replica, because this attempt is the last. */
  afterAnother(): T {
    const nowMs = this.#nowMs();
    return this.#next('second', (standing) => (standing.isDue(nowMs) ? BETWEEN : healthyFirst(standing)));
  }

  /** A replica that is due for a trial and gets none, because its engine may be a fallback. */
  overdue(): T | undefined {
    return this.#dueSince(OVERDUE_MS);
  }

  /** An only replica needs no trial: it gets every request. */
  #dueSince(ms: number): T | undefined {
    const { members } = this;
    if (members.length === 1 || !members.some(isAside)) return undefined;
    const dueMs = this.#nowMs() - ms;
    return members.find(({ standing }) => standing.isDue(dueMs));
  }

  /** The next of those with the lowest rank. */
  #next(turn: 'first' | 'second', rank: Rank): T {
    const { members } = this;
    let found = -1;
    let lowest = Infinity;
    for (let i = 0; i < members.length && lowest > 0; i++) {
      const index = (this.#turns[turn] + i) % members.length;
      const here = rank(members[index]!.standing);
      if (found !== -1 && here >= lowest) continue;
      found = index;
      lowest = here;
    }
    this.#turns[turn] = (found + 1) % members.length;
    return members[found]!;
  }
}
