// A timeout that runs only while waiting for the other side.

export class Silence {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
  }

  /** Starts or restarts the timer. */
  watch(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(this.#onSilence, this.#ms);
    else this.#timer.refresh();
  }

  /** Stops the timer, because nobody is being waited for. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
