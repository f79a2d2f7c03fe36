// Asks the store in the background whether it answers, so that health checks cost it nothing.
import type { Store } from '../ports/store.ts';

const EVERY_MS = 500;

export class StoreProbe {
  readonly #store: Pick<Store, 'ping'>;
  readonly #timer: NodeJS.Timeout;
  #answered = true;
  #asking = false;
  #askedAtMs = 0;
  #tookMs: number | undefined;
  readonly #now: () => number;

  /** `now` is a monotonic clock. The store is taken to answer at first: it has just been opened. */
  constructor(store: Pick<Store, 'ping'>, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#timer = setInterval(() => this.#ask(), EVERY_MS);
    this.#timer.unref();
  }

  /** Whether the latest answer, at most a second old, was good. */
  get answers(): boolean {
    // A probe that is overdue counts as failed.
    return this.#answered && (!this.#asking || this.#now() - this.#askedAtMs < EVERY_MS);
  }

  /** What the latest good answer took; `undefined` before the first. */
  get tookMs(): number | undefined {
    return this.#tookMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #ask(): void {
    if (this.#asking) return;
    this.#asking = true;
    this.#askedAtMs = this.#now();
    this.#store.ping().then(
      (failed) => this.#conclude(failed === undefined),
      () => this.#conclude(false),
    );
  }

  #conclude(answered: boolean): void {
    this.#asking = false;
    this.#answered = answered;
    if (answered) this.#tookMs = this.#now() - this.#askedAtMs;
  }
}
