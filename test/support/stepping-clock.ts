// The clock of a machine that may be wrong: a wall clock that steps, beside the time that really passes.
import type { ClockSource } from '../../src/domain/clock-judge.ts';
import type { Clock } from '../../src/ports/clock.ts';

export class SteppingClock implements ClockSource {
  readonly #real: Clock;
  readonly #bootMs: number;
  /** How far the wall clock is wrong. */
  offByMs = 0;
  /** What looks at it twice a second in a gateway; called when time has passed. */
  readonly watches: (() => void)[] = [];

  /** `real` is the time that passes, on which everything agrees while no clock is wrong. */
  constructor(real: Clock) {
    this.#real = real;
    this.#bootMs = real.nowMs() - 86_400_000;
  }

  wallMs(): number {
    return this.#real.nowMs() + this.offByMs;
  }

  monotonicMs(): number {
    return this.#real.nowMs() - this.#bootMs;
  }
}
