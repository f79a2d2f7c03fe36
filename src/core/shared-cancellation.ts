// Shares one cancellation between several concurrent operations, each with its own listener.
import type { Cancellation } from './exchange.ts';

export class SharedCancellation {
  readonly #whole: Cancellation;
  /** Listeners by share. */
  readonly #listeners = new Map<Share, () => void>();

  /** Becomes the only listener of `whole`. */
  constructor(whole: Cancellation) {
    this.#whole = whole;
  }

  /** A cancellation for one of the operations. */
  share(): Cancellation {
    return new Share(this);
  }

  get cancelled(): boolean {
    return this.#whole.cancelled;
  }

  listen(share: Share, listener: (() => void) | undefined): void {
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

class Share implements Cancellation {
  readonly #of: SharedCancellation;

  constructor(of: SharedCancellation) {
    this.#of = of;
  }

  get cancelled(): boolean {
    return this.#of.cancelled;
  }

  onCancel(listener: (() => void) | undefined): void {
    this.#of.listen(this, listener);
  }
}
