// Work that is done every so often in the background, one round at a time.
export class Rounds {
  readonly #work: () => Promise<unknown>;
  #timer: NodeJS.Timeout;
  #running: Promise<void> | undefined;

  /** `work` says itself what has failed. */
  constructor(everyMs: number, work: () => Promise<unknown>, firstMs = everyMs) {
    this.#work = work;
    const next = (ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        this.#timer = next(everyMs);
        void this.now();
      }, ms).unref();
    this.#timer = next(firstMs);
  }

  /** A round at once, or the one under way. */
  now(): Promise<void> {
    const over = (): void => void (this.#running = undefined);
    this.#running ??= this.#work().then(over, over);
    return this.#running;
  }

  /** Resolves when a round under way has ended. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#running;
  }
}
