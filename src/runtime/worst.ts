// Keeps the few worst of many that come one by one, in order, with memory for those few.

export class Worst<T> {
  readonly #max: number;
  readonly #badness: (one: T) => number;
  readonly #kept: T[] = [];
  #count = 0;

  /** Keeps `max` of them; the higher `badness`, the worse. */
  constructor(max: number, badness: (one: T) => number) {
    this.#max = max;
    this.#badness = badness;
  }

  /** How many came. */
  get count(): number {
    return this.#count;
  }

  /** The worst first; of equals the one that came first. */
  get kept(): readonly T[] {
    return this.#kept;
  }

  add(one: T): void {
    this.#count++;
    const badness = this.#badness(one);
    const last = this.#kept.at(-1);
    if (last !== undefined && this.#kept.length === this.#max && this.#badness(last) >= badness) return;
    let at = this.#kept.length;
    while (at > 0 && this.#badness(this.#kept[at - 1]!) < badness) at--;
    this.#kept.splice(at, 0, one);
    if (this.#kept.length > this.#max) this.#kept.pop();
  }
}
