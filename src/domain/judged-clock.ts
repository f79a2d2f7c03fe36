// The clock of a process: its machine's wall clock while that is believed, otherwise the time that has passed since it was, on the
// monotonic clock. A store that several processes share keeps the latest believed time, by which each of them judges its start.
import { agree, ClockJudge, FOLLOWED_STEP_MS } from './clock-judge.ts';

/** How often the latest time is written to the store. */
const MARK_EVERY_MS = 60_000;

/** What a clock is judged by; whole milliseconds. */
export interface ClockSource {
  wallMs(): number;
  /** Goes on evenly, also while the wall clock is set. Comparable between processes with the same `boot`. */
  monotonicMs(): number;
  /** Identifies what the monotonic clock counts from; '' if that is unknown. */
  readonly boot: string;
}

/** The latest time that the processes of a store have believed, and when that was on the monotonic clock. */
export interface ClockMark {
  readonly latestMs: number;
  readonly boot: string;
  readonly monotonicMs: number;
}

export class JudgedClock {
  readonly #source: ClockSource;
  readonly #judge: ClockJudge;
  /** A wall time between these is believed without reading the monotonic clock, which every admission would pay for. */
  #fromMs = 0;
  #untilMs = 0;
  /** Whether the store's time has been compared. */
  #compared = false;

  constructor(source: ClockSource) {
    this.#source = source;
    const monotonicMs = source.monotonicMs();
    this.#judge = new ClockJudge(source.wallMs() - monotonicMs, monotonicMs);
    this.look();
  }

  /** The time that is believed. */
  readonly nowMs = (): number => {
    const wallMs = this.#source.wallMs();
    return wallMs > this.#fromMs && wallMs < this.#untilMs ? wallMs : this.#judged(wallMs);
  };

  /** How far the wall clock is from the time that is believed; 0 if it is believed. */
  get stepMs(): number {
    this.look();
    return this.#judge.stepMs;
  }

  /** Must be called about once a second: a step that nobody looks at does not count as held. */
  look(): void {
    this.#judged(this.#source.wallMs());
  }

  /** Believes the wall clock as it is now. */
  accept(): void {
    const monotonicMs = this.#source.monotonicMs();
    this.#judge.trust(this.#source.wallMs() - monotonicMs, monotonicMs);
    this.look();
  }

  /**
   * Judges the wall clock by the store's mark as well, and returns the mark that should replace it, if any. The first mark decides
   * with what time this process begins; a later one can only confirm a step, which then has held, or was accepted, elsewhere.
   */
  compare(mark: ClockMark | undefined): ClockMark | undefined {
    const monotonicMs = this.#source.monotonicMs();
    if (mark !== undefined) {
      const isComparable = mark.boot !== '' && mark.boot === this.#source.boot;
      const markedMs = mark.latestMs + (isComparable ? monotonicMs - mark.monotonicMs : 0);
      if (!this.#compared) this.#judge.trust(markedMs - monotonicMs, monotonicMs);
      else if (this.stepMs !== 0 && agree(this.#source.wallMs(), markedMs)) this.accept();
    }
    this.#compared = true;
    this.look();
    return this.stepMs === 0 && isDue(mark, this.nowMs()) ? this.mark() : undefined;
  }

  /** The time that is believed now, as the store keeps it. */
  mark(): ClockMark {
    return { latestMs: this.nowMs(), boot: this.#source.boot, monotonicMs: this.#source.monotonicMs() };
  }

  #judged(wallMs: number): number {
    const monotonicMs = this.#source.monotonicMs();
    this.#judge.look(wallMs - monotonicMs, monotonicMs);
    const trustedMs = monotonicMs + this.#judge.trustedMs;
    this.#fromMs = trustedMs - FOLLOWED_STEP_MS;
    this.#untilMs = trustedMs + FOLLOWED_STEP_MS;
    return monotonicMs + this.#judge.believedMs;
  }
}

/** Also after a step back that is believed. */
function isDue(mark: ClockMark | undefined, nowMs: number): boolean {
  return mark === undefined || Math.abs(nowMs - mark.latestMs) >= MARK_EVERY_MS;
}

/** The clock of a store whose time tests move as they like: always believed. */
export function unjudgedClock(clock: { nowMs(): number }) {
  return {
    step: () => undefined,
    look: async () => undefined,
    accept: async () => ({ kind: 'accepted', nowMs: clock.nowMs(), steppedMs: 0 }) as const,
  };
}

/** How far a clock is from the time that is believed: `61 days beyond`, `2 hours behind`. */
export function stepText(byMs: number): string {
  const hours = Math.round(Math.abs(byMs) / 3_600_000);
  const days = Math.round(hours / 24);
  return `${hours < 48 ? `${hours} ${hours === 1 ? 'hour' : 'hours'}` : `${days} days`} ${byMs > 0 ? 'beyond' : 'behind'}`;
}
