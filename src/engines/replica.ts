// One engine replica: its connection pool, the results of its attempts, and its health: set aside
// after failures, tried again by a single request, and restored by a usable answer. And the
// rotation that selects one of several.
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

/**
 * Failures that prove nothing about a replica: the caller left, our connections were all in use, or
 * the engine lacks what the request needs.
 */
const INCONCLUSIVE: readonly AttemptFailure[] = [
  'cancelled',
  'busy',
  'unsupported_pair',
  'no_detection',
  'glossary_refused',
  'file_refused',
];
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
  #reached: boolean | undefined = undefined;
  #noDetectionUntilMs = -Infinity;
  #lastFailure: { readonly detail: FailureDetail; readonly atMs: number } | undefined = undefined;

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
    this.#reached = true;
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
      this.#lastFailure = { detail: attempt, atMs: terms.nowMs };
      if (failure === 'connect') this.#reached = false;
      if (failure === 'no_detection') this.#noDetectionUntilMs = terms.nowMs + NO_DETECTION_KNOWN_MS;
      this.#watch?.failed(work, attempt);
    }
    const change = this.standing.failed(ticket, attempt, terms);
    if (change === 'set aside') this.#watch?.setAside(attempt, this.standing.untilMs - terms.nowMs);
    return change;
  }

  /** Of a trial without a request. It does not set aside: a request may succeed all the same. */
  tried(failure: FailureDetail | undefined, nowMs: number): void {
    this.#reached = failure === undefined;
    if (failure !== undefined) this.#lastFailure = { detail: failure, atMs: nowMs };
    // The last failure was a trial's.
    else if (this.#failed === 0) this.#lastFailure = undefined;
  }

  /** Whether an attempt within the last minute has shown that it detects no languages. */
  cannotDetect(nowMs: number): boolean {
    return nowMs < this.#noDetectionUntilMs;
  }

  /** The next text without its language is sent to it again. */
  forgetDetection(): void {
    this.#noDetectionUntilMs = -Infinity;
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
      lastFailure: last === undefined ? undefined : { ...shownOf(last.detail), agoMs: nowMs - last.atMs },
      asideMs: aside ? Math.max(0, untilMs - nowMs) : undefined,
      reached: this.#reached,
    };
  }
}

/** Without what an adapter has thrown, which does not survive structured cloning. */
function shownOf({ failure, status, cause }: FailureDetail): Pick<FailureDetail, 'failure' | 'status' | 'cause'> {
  return { failure, status, cause };
}

/** What an attempt changed. */
export type StandingChange = 'set aside' | 'back' | undefined;

/** The context in which a failed attempt is judged. */
export interface FailureTerms {
  readonly nowMs: number;
  /** The wall clock, for a `Retry-After` that is a date. */
  readonly wallMs: number;
  /** Of the engine's timeout: less than 1 for an attempt with a shorter deadline. */
  readonly deadlineShare: number;
  /** There is no other replica: it is not set aside, but its failures are counted. */
  readonly lone: boolean;
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

  usable(ticket: number): StandingChange {
    if (!this.aside) {
      this.#failures = 0;
      return undefined;
    }
    // Started before that: an engine that refuses some of its requests still answers others.
    if (ticket < this.#since) return undefined;
    this.restore();
    return 'back';
  }

  failed(ticket: number, attempt: UnusableAttempt, terms: FailureTerms): StandingChange {
    if (this.aside) {
      if (ticket === this.#trial) this.#failTrial(attempt, terms);
      return undefined;
    }
    if (ticket < this.#since || isInconclusive(attempt)) return undefined;
    this.#failures += attempt.failure === 'timeout' ? terms.deadlineShare : 1;
    const atOnce = attempt.failure === 'connect' || OVERLOADED.includes(attempt.status);
    if (terms.lone || (!atOnce && this.#failures < FAILURES_MAX - ROUNDING)) return undefined;
    this.#setAside(attempt, terms);
    return 'set aside';
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
  return INCONCLUSIVE.includes(failure) || (failure === 'internal' && status === undefined);
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

const isHealthy = ({ standing }: Rotated): boolean => !standing.aside;

export class Rotation<T extends Rotated> {
  /** At least one; change it by `replace`. */
  members: readonly T[] = [];
  readonly #nowMs: () => number;
  #aside = 0;
  /** Where to look first; second attempts must not advance the rotation of first ones. */
  readonly #turns = { first: 0, second: 0 };

  /** `nowMs` is a monotonic clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** At least one. */
  replace(members: readonly T[]): void {
    this.members = members;
    this.recount();
  }

  /** Call it when a replica was set aside or restored. */
  recount(): void {
    this.#aside = this.members.filter(({ standing }) => standing.aside).length;
  }

  /** One that is due for a trial, or the next healthy one. */
  first(): T {
    if (this.members.length === 1) return this.members[0]!;
    const due = this.#aside === 0 ? undefined : this.#dueAt(this.#nowMs());
    return due ?? this.#next('first', [isHealthy]);
  }

  /** A healthy one other than `previous`; `previous` again rather than one that is set aside. */
  second(previous: T): T {
    const { members } = this;
    if (members.length === 1) return members[0]!;
    const isOther = (member: T): boolean => member !== previous;
    const hasOther = members.some((member) => isOther(member) && isHealthy(member));
    if (!hasOther && isHealthy(previous) && members.includes(previous)) return previous;
    return this.#next('second', [(member) => isOther(member) && isHealthy(member)], isOther);
  }

  /** After a failure elsewhere: a healthy replica, because this attempt is the last. */
  afterAnother(): T {
    const nowMs = this.#nowMs();
    return this.#next('second', [isHealthy, ({ standing }) => standing.isDue(nowMs)]);
  }

  /** A replica that is due for a trial and gets none, because its engine may be a fallback. */
  overdue(): T | undefined {
    return this.#aside === 0 ? undefined : this.#dueAt(this.#nowMs() - OVERDUE_MS);
  }

  #dueAt(ms: number): T | undefined {
    return this.members.find(({ standing }) => standing.isDue(ms));
  }

  /** The next with the first mark that any has; else, of `others`, one seldom set aside. */
  #next(turn: 'first' | 'second', marks: readonly ((member: T) => boolean)[], others: (member: T) => boolean = () => true): T {
    const { members } = this;
    const timesOf = ({ standing }: T): number => standing.times;
    const leastBad = (member: T): boolean => others(member) && timesOf(member) === Math.min(...members.filter(others).map(timesOf));
    const from = this.#turns[turn];
    for (const mark of [...marks, leastBad]) {
      for (let i = 0; i < members.length; i++) {
        const index = (from + i) % members.length;
        if (!mark(members[index]!)) continue;
        this.#turns[turn] = (index + 1) % members.length;
        return members[index]!;
      }
    }
    throw new Error('there is no replica');
  }
}
