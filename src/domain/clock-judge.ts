// Judges a wall clock. It is wrong once it has stepped by more than an hour against the monotonic
// clock, or is more than an hour behind the latest time that its store has seen; until it is right
// again, or an operator accepts it, time goes on as it was.

/** A step of at most this much is followed, as time servers make them. */
export const FOLLOWED_STEP_MS = 3_600_000;
/** Two clocks are read one after the other, which takes less, however busy the machine is. */
const SET_FORWARD_MS = 1000;
/** A clock that is this far ahead when a process starts is believed like any, but mentioned. */
const MENTIONED_MS = 86_400_000;

/** All offsets are in milliseconds: wall time minus monotonic time. */
export class ClockJudge {
  #rightMs: number;
  #seenMs: number;
  /** What the store had as its latest time when this was last looked at. */
  #latestMs: number | undefined;
  /** Whether no clock has been right yet: what is believed is the latest time of the store. */
  #isFromStore = false;

  /** Begins with an offset that is believed. */
  constructor(offsetMs: number) {
    this.#rightMs = this.#seenMs = offsetMs;
  }

  /** What the clock itself says. */
  get seenMs(): number {
    return this.#seenMs;
  }

  /** The offset of the time that is believed. */
  get offsetMs(): number {
    return this.#rightMs;
  }

  /** Between the clock and the believed time: 0 while it is right, negative if it is behind. */
  get stepMs(): number {
    return this.#seenMs - this.#rightMs;
  }

  look(offsetMs: number): void {
    this.#seenMs = offsetMs;
    // Set right, it is believed like one that begins so, however long nobody served.
    if (agree(offsetMs, this.#rightMs) || (this.#isFromStore && offsetMs > this.#rightMs)) this.accept();
  }

  /** At the start: what another process finds wrong is wrong here, if it is the same clock. */
  suspect(wrong: WrongClock | undefined, monotonicMs: number): void {
    if (wrong === undefined || !agree(this.#seenMs + monotonicMs - wrong.byMs, wrong.atMs)) return;
    this.#rightMs = this.#seenMs - wrong.byMs;
  }

  /** By the latest time in the store: one that came since, and agrees, accepts a wrong clock. */
  compare(latestMs: number | undefined, monotonicMs: number): void {
    const isNews = latestMs !== this.#latestMs;
    this.#latestMs = latestMs;
    if (latestMs === undefined) return;
    const byMs = this.#seenMs + monotonicMs - latestMs;
    if (byMs >= -FOLLOWED_STEP_MS) {
      if (isNews && byMs <= FOLLOWED_STEP_MS) this.accept();
    } else if (latestMs - monotonicMs > this.#rightMs) {
      this.#isFromStore ||= !agree(latestMs - monotonicMs, this.#rightMs);
      this.#rightMs = latestMs - monotonicMs;
    }
  }

  accept(): void {
    this.#rightMs = this.#seenMs;
    this.#isFromStore = false;
  }
}

/** A clock that a process has found wrong. */
interface WrongClock {
  /** How far it was from the time that was believed. */
  readonly byMs: number;
  /** The time that was believed then. */
  readonly atMs: number;
}

/** What a store knows of time. */
export interface ClockMark {
  /** The latest time that it has seen; `undefined` if it is new. */
  readonly latestMs: number | undefined;
  readonly wrong: WrongClock | undefined;
}

/** What the clock of a process reads; milliseconds. */
export interface ClockSource {
  /** Whole ones. */
  wallMs(): number;
  /** Goes on evenly, also while the wall clock is set. */
  monotonicMs(): number;
}

/** A machine's clock, also that of its store unless this has clocks of its own. */
export class JudgedClock {
  readonly #source: ClockSource;
  readonly #judge: ClockJudge;
  #believedMs: number;
  /** Of steps that were followed. To be read only. */
  setForwardMs = 0;

  constructor(source: ClockSource) {
    this.#source = source;
    this.#believedMs = source.wallMs() - source.monotonicMs();
    this.#judge = new ClockJudge(this.#believedMs);
  }

  /** The time that is believed. */
  readonly nowMs = (): number => {
    const wallMs = this.#source.wallMs();
    const monotonicMs = this.#source.monotonicMs();
    this.#judge.look(wallMs - monotonicMs);
    this.#follow(this.#judge.offsetMs);
    return this.#judge.stepMs === 0 ? wallMs : Math.floor(monotonicMs + this.#judge.offsetMs);
  };

  #follow(offsetMs: number): void {
    const byMs = offsetMs - this.#believedMs;
    if (byMs > SET_FORWARD_MS && byMs <= FOLLOWED_STEP_MS) this.setForwardMs += Math.ceil(byMs);
    this.#believedMs = offsetMs;
  }

  readonly wallMs = (): number => this.#source.wallMs();

  get stepMs(): number {
    this.nowMs();
    return Math.round(this.#judge.stepMs);
  }

  step(): { readonly byMs: number } | undefined {
    const byMs = this.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  /** At the start. */
  begin({ latestMs, wrong }: ClockMark): void {
    this.nowMs();
    this.#judge.suspect(wrong, this.#source.monotonicMs());
    this.compare(latestMs);
  }

  /** Judges by the latest time that the store has seen. */
  compare(latestMs: number | undefined): void {
    this.nowMs();
    this.#judge.compare(latestMs, this.#source.monotonicMs());
  }
}

/** Whether two times are close enough for one to be believed because of the other. */
export function agree(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= FOLLOWED_STEP_MS;
}

/** By how much a clock is so far beyond the latest time of its store that it is mentioned. */
export function aheadMs(nowMs: number, latestMs: number | undefined): number | undefined {
  return latestMs !== undefined && nowMs - latestMs > MENTIONED_MS ? nowMs - latestMs : undefined;
}

/** How far a clock is from another time: `61 days beyond`, `2 hours behind`. */
export function stepText(byMs: number): string {
  const hours = Math.round(Math.abs(byMs) / 3_600_000);
  const days = Math.round(hours / 24);
  return `${hours < 48 ? `${hours} ${hours === 1 ? 'hour' : 'hours'}` : `${days} days`} ${byMs > 0 ? 'beyond' : 'behind'}`;
}
