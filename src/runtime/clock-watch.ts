// Has the clocks of this process and of its store judged twice a second, and logs when one is no longer believed and when it is again.
import type { JudgedClock } from '../domain/judged-clock.ts';
import type { ClockStep, StoreClock } from '../ports/clock.ts';
import type { Log, LogFields } from '../ports/log.ts';

const EVERY_MS = 500;

interface ClockWatchOptions {
  readonly clock: Pick<JudgedClock, 'look' | 'stepMs'>;
  readonly store: Pick<StoreClock, 'look' | 'step'>;
  readonly log: Log;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #logged: ClockStep | undefined;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#note();
    // At once: the store shall know the time of a process that only runs for a moment.
    this.#looking = this.#look();
    this.#timer = setInterval(() => void (this.#looking ??= this.#look()), EVERY_MS);
    this.#timer.unref();
  }

  /** `undefined` while every clock is believed. */
  step(): ClockStep | undefined {
    const { clock, store } = this.#options;
    return store.step() ?? (clock.stepMs === 0 ? undefined : { byMs: clock.stepMs });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, store } = this.#options;
    clock.look();
    // A store that is down is the probe's subject.
    await store.look().catch(() => undefined);
    this.#note();
    this.#looking = undefined;
  }

  #note(): void {
    const step = this.step();
    const { log } = this.#options;
    if (step !== undefined && this.#logged === undefined) log.warn(CLOCK_NOT_BELIEVED, stepMembers(step));
    if (step === undefined && this.#logged !== undefined) log.info('the clock is believed again', stepMembers(this.#logged));
    this.#logged = step;
  }
}

const CLOCK_NOT_BELIEVED =
  'the clock is not believed: nothing expires, ends or is deleted by it until it has held for ten minutes, or "lingate store check --accept-clock" vouches for it';

function stepMembers({ byMs, server }: ClockStep): LogFields {
  return { step_seconds: stepSeconds(byMs), server };
}

export function stepSeconds(byMs: number): number {
  return Math.round(byMs / 1000);
}
