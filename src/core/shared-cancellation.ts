// Shares one cancellation between several concurrent operations, each with its own listener.
import type { Cancellation } from './exchange.ts';

export class SharedCancellation {
  readonly #whole: Cancellation;
  readonly #listeners = new Map<Cancellation, () => void>();

  /** Becomes the only listener of `whole`. */
  constructor(whole: Cancellation) {
    this.#whole = whole;
  }

  /** A cancellation for one of the operations. */
  share(): Cancellation {
    const whole = this.#whole;
    const share: Cancellation = {
      get cancelled() {
        return whole.cancelled;
      },
      onCancel: (listener) => this.#listen(share, listener),
    };
    return share;
  }

  #listen(share: Cancellation, listener: (() => void) | undefined): void {
    if (listener === undefined) this.#listeners.delete(share);
    else this.#listeners.set(share, listener);
    this.#whole.onCancel(this.#listeners.size === 0 ? undefined : () => this.#notify());
  }

  #notify(): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
