// Judges the clocks that a store goes by, its machine's or its servers'. One is wrong once it has stepped by more than an hour against
// the monotonic clock, or is more than an hour behind the latest time that the store has seen. Until it is right again, or an operator
// accepts it, time goes on as it was.

/** A step of at most this much is followed, as time servers make them. */
export const FOLLOWED_STEP_MS = 3_600_000;
/** Two clocks are read one after the other, which takes less, however busy the machine is. */
const SET_FORWARD_MS = 1000;

/** What a store knows of time. */
export interface ClockMark {
  /** The latest time that it has seen; `undefined` if it is new. */
  readonly latestMs: number | undefined;
  /** What a clock that is wrong showed at that time. */
  readonly wrongMs: number | undefined;
}

/** All offsets are in milliseconds: a clock's time minus the monotonic one. */
export class ClockJudge {
  /** Of the time that is believed. */
  offsetMs: number;
  /** What the store had as its latest time when this was last looked at. */
  #latestMs: number | undefined;
  /** Whether no clock has been right yet: what is believed is the latest time of the store. */
  #isFromStore = false;

  /** Begins with a clock that is believed. */
  constructor(offsetMs: number) {
    this.offsetMs = offsetMs;
  }

  /** How far a clock is from the believed time: 0 while it is right, negative if it is behind. */
  stepOf(offsetMs: number): number {
    return agree(offsetMs, this.offsetMs) ? 0 : offsetMs - this.offsetMs;
  }

  look(offsetMs: number): void {
    // Set right, it is believed like one that begins so, however long nobody served.
    if (agree(offsetMs, this.offsetMs) || (this.#isFromStore && offsetMs > this.offsetMs)) this.#believe(offsetMs);
  }

  /** At the start: of several clocks the one nearest to the latest time is right, unless another process finds it wrong. */
  begin({ latestMs, wrongMs }: ClockMark, offsets: readonly number[], monotonicMs: number): void {
    const latest = latestMs === undefined ? Math.min(...offsets) : latestMs - monotonicMs;
    const [nearest] = offsets.toSorted((one, other) => Math.abs(one - latest) - Math.abs(other - latest));
    this.#believe(nearest!);
    const isWrong = latestMs !== undefined && wrongMs !== undefined && agree(nearest! + monotonicMs, wrongMs);
    if (isWrong) this.offsetMs -= wrongMs - latestMs;
    this.compare(latestMs, offsets, monotonicMs);
  }

  /** By the latest time in the store: one that came since, and agrees, accepts a clock that was wrong. */
  compare(latestMs: number | undefined, offsets: readonly number[], monotonicMs: number): void {
    const isNews = latestMs !== this.#latestMs;
    this.#latestMs = latestMs;
    if (latestMs === undefined) return;
    const latest = latestMs - monotonicMs;
    const agreeing = offsets.find((offsetMs) => agree(offsetMs, latest));
    if (agreeing !== undefined && isNews) this.#believe(agreeing);
    if (agreeing !== undefined || latest - this.offsetMs <= FOLLOWED_STEP_MS) return;
    this.offsetMs = latest;
    this.#isFromStore = true;
  }

  #believe(offsetMs: number): void {
    this.offsetMs = offsetMs;
    this.#isFromStore = false;
  }
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
  #seenMs: number;
  #believedMs: number;
  /** Of steps that were followed. To be read only. */
  setForwardMs = 0;

  constructor(source: ClockSource) {
    this.#source = source;
    this.#seenMs = this.#believedMs = source.wallMs() - source.monotonicMs();
    this.#judge = new ClockJudge(this.#seenMs);
  }

  /** The time that is believed. */
  readonly nowMs = (): number => {
    const wallMs = this.#source.wallMs();
    const monotonicMs = this.#source.monotonicMs();
    this.#seenMs = wallMs - monotonicMs;
    this.#judge.look(this.#seenMs);
    const byMs = this.#judge.offsetMs - this.#believedMs;
    if (byMs > SET_FORWARD_MS && byMs <= FOLLOWED_STEP_MS) this.setForwardMs += Math.ceil(byMs);
    this.#believedMs = this.#judge.offsetMs;
    return this.#judge.stepOf(this.#seenMs) === 0 ? wallMs : Math.floor(monotonicMs + this.#believedMs);
  };

  get stepMs(): number {
    this.nowMs();
    return Math.round(this.#judge.stepOf(this.#seenMs));
  }

  step(): { readonly byMs: number } | undefined {
    const byMs = this.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  async read(): Promise<readonly { readonly server: string; readonly nowMs: number }[]> {
    return [{ server: '', nowMs: this.#source.wallMs() }];
  }

  /** At the start, by what the store knows. */
  begin(mark: ClockMark): void {
    this.nowMs();
    this.#judge.begin(mark, [this.#seenMs], this.#source.monotonicMs());
  }

  /** Judges by the latest time that the store has seen. */
  compare(latestMs: number | undefined): void {
    this.nowMs();
    this.#judge.compare(latestMs, [this.#seenMs], this.#source.monotonicMs());
  }
}

/** Whether two times are close enough for one to be believed because of the other. */
export function agree(oneMs: number, otherMs: number): boolean {
  return Math.abs(oneMs - otherMs) <= FOLLOWED_STEP_MS;
}

/** How far a clock is from another time: `61 days beyond`, `2 hours behind`. */
export function stepText(byMs: number): string {
  const hours = Math.round(Math.abs(byMs) / 3_600_000);
  const days = Math.round(hours / 24);
  return `${hours < 48 ? `${hours} ${hours === 1 ? 'hour' : 'hours'}` : `${days} days`} ${byMs > 0 ? 'beyond' : 'behind'}`;
}
