// A deadline that runs only while the other side is waited for.

export class Silence {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
  }

  /** Starts the time anew. */
  watch(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(this.#onSilence, this.#ms);
    else this.#timer.refresh();
  }

  /** Stops the time: nobody is waited for. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
