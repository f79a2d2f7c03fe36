// Ends what moves too slowly: its place, and the memory of a whole file, belong to others.

/** How often it is judged. */
const LOOK_SECONDS = 10;
/** Of a download: a system takes up to some megabytes at once, and then nothing until most of that is read. */
export const READ_SECONDS = 180;

/** Bytes that must move: `slowest` a second, over `overSeconds`. */
export class TransferPace {
  readonly #looks: NodeJS.Timeout;
  /** What has moved and was not needed yet. */
  #spare: number;

  constructor(slowest: number, onSlow: () => void, overSeconds = LOOK_SECONDS) {
    const [needed, most] = [slowest * LOOK_SECONDS, slowest * overSeconds];
    this.#spare = most - needed;
    this.#looks = setInterval(() => {
      this.#spare = Math.min(most, this.#spare) - needed;
      if (this.#spare >= 0) return;
      this.end();
      onSlow();
    }, LOOK_SECONDS * 1000);
  }

  moved(bytes: number): void {
    this.#spare += bytes;
  }

  end(): void {
    clearInterval(this.#looks);
  }
}
