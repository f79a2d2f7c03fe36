// Has the clocks of this process and its store judged twice a second, logs when the store's is
// wrong or right again, and admits nothing meanwhile.
import type { JudgedClock } from '../domain/clock-judge.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { ClockStep, StoreClock } from '../ports/clock.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { Log, LogFields } from '../ports/log.ts';
import { Rounds } from './rounds.ts';
import { Spell } from './spell.ts';

const EVERY_MS = 500;

const WRONG: StoreUnavailable = { kind: 'unavailable', cause: 'clock' };

interface ClockWatchOptions {
  readonly clock: Pick<JudgedClock, 'compare'>;
  readonly store: Pick<StoreClock, 'look' | 'step'>;
  readonly log: Log;
}

export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #looks = new Rounds(EVERY_MS, () => this.#look());
  readonly #wrong: Spell<ClockStep>;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    const { log } = options;
    this.#wrong = new Spell({
      begins: (step) => log.error(CLOCK_WRONG, stepMembers(step)),
      ends: (step) => log.info('the clock is right again', stepMembers(step)),
    });
    this.#wrong.note(this.step());
    // At once: the store shall know the time of a process that only runs for a moment.
    void this.#looks.now();
  }

  /** `undefined` while the store's clock is right. */
  step(): ClockStep | undefined {
    return this.#options.store.step();
  }

  /** Admits nothing while the clock is wrong. What is open is settled, by the time that passed. */
  guarded(ledger: Ledger): Ledger {
    const isWrong = (): boolean => this.step() !== undefined;
    return {
      admit: (asked) => (isWrong() ? queueMicrotask(() => asked.answered(WRONG)) : ledger.admit(asked)),
      check: (asked) => (isWrong() ? queueMicrotask(() => asked.answered(WRONG)) : ledger.check(asked)),
      resolve: (asked) => ledger.resolve(asked),
    };
  }

  close(): Promise<void> {
    return this.#looks.close();
  }

  async #look(): Promise<void> {
    const { clock, store } = this.#options;
    // A store that is down is the probe's subject.
    const latestMs = await store.look().catch(() => WRONG);
    if (!isUnavailable(latestMs)) clock.compare(latestMs);
    this.#wrong.note(this.step());
  }
}

const CLOCK_WRONG =
  'the clock is wrong: requests are answered 503, and nothing expires, ends or is deleted, until it is right: set it (timedatectl shows it), or if it is, run "lingate store check --accept-clock"';

function stepMembers({ byMs, server }: ClockStep): LogFields {
  return { step_seconds: stepSeconds(byMs), server };
}

export function stepSeconds(byMs: number): number {
  return Math.round(byMs / 1000);
}
