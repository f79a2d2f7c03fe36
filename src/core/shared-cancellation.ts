// One cancellation for several things that are under way at the same time, each with a listener of its own.
import type { Cancellation } from './exchange.ts';

export class SharedCancellation {
  readonly #whole: Cancellation;
  /** Of the shares that are to be told. */
  readonly #listeners = new Map<Share, () => void>();

  /** Is the only one to listen to `whole` from now on. */
  constructor(whole: Cancellation) {
    this.#whole = whole;
  }

  /** For one of them. */
  share(): Cancellation {
    return new Share(this);
  }

  get cancelled(): boolean {
    return this.#whole.cancelled;
  }

  listen(share: Share, listener: (() => void) | undefined): void {
    if (listener === undefined) this.#listeners.delete(share);
    else this.#listeners.set(share, listener);
    this.#whole.onCancel(this.#listeners.size === 0 ? undefined : () => this.#tell());
  }

  #tell(): void {
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
