// Keeps the worst few of a stream of items, in order and in bounded memory.

export class Worst<T> {
  readonly #max: number;
  readonly #badness: (one: T) => number;
  /** Worst first; among equals, the one added first. To be read only. */
  readonly kept: T[] = [];
  /** The number of items added. To be read only. */
  count = 0;

  /** Keeps `max` items; a higher `badness` is worse. */
  constructor(max: number, badness: (one: T) => number) {
    this.#max = max;
    this.#badness = badness;
  }

  add(one: T): void {
    this.count++;
    const badness = this.#badness(one);
    const last = this.kept.at(-1);
    if (last !== undefined && this.kept.length === this.#max && this.#badness(last) >= badness) return;
    let at = this.kept.length;
    while (at > 0 && this.#badness(this.kept[at - 1]!) < badness) at--;
    this.kept.splice(at, 0, one);
    if (this.kept.length > this.#max) this.kept.pop();
  }
}
