// The exchanges that have begun and not ended, in the order of their arrival.
import type { Exchange } from './exchange.ts';

/**
 * A list whose links are the exchanges' own. Not a `Set`: every few dozen changes V8 moves one to a new table, and leaves all
 * entries in the old table, with a link to the next. One old table in the old generation keeps the exchanges of all tables
 * behind it from being collected before the next full collection: a tenth of all garbage was copied to the old generation.
 */
export class InFlight {
  #oldest: Exchange | undefined = undefined;
  #newest: Exchange | undefined = undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(x: Exchange): void {
    const newest = this.#newest;
    x.earlier = newest;
    if (newest === undefined) this.#oldest = x;
    else newest.later = x;
    this.#newest = x;
    this.#size++;
  }

  /** Only for one that was added and not removed since. */
  remove(x: Exchange): void {
    const { earlier, later } = x;
    if (earlier === undefined) this.#oldest = later;
    else earlier.later = later;
    if (later === undefined) this.#newest = earlier;
    else later.earlier = earlier;
    x.earlier = x.later = undefined;
    this.#size--;
  }

  /** Those that began at `ms` or before, oldest first. */
  startedBy(ms: number): readonly Exchange[] {
    const found: Exchange[] = [];
    for (let x = this.#oldest; x !== undefined && x.startedAtMs <= ms; x = x.later) found.push(x);
    return found;
  }
}
