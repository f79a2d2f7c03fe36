// The exchanges in flight, in order of arrival.
import type { Exchange } from './exchange.ts';

/**
 * An intrusive linked list instead of a `Set`: every few dozen changes V8 rehashes a set into a new table, and the old table
 * keeps its entries and a link to the next table. One old table in the old generation then prevents the exchanges of all later
 * tables from being collected before the next full collection, which promoted a tenth of all garbage to the old generation.
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

  /** Only for an exchange that is currently in the list. */
  remove(x: Exchange): void {
    const { earlier, later } = x;
    if (earlier === undefined) this.#oldest = later;
    else earlier.later = later;
    if (later === undefined) this.#newest = earlier;
    else later.earlier = earlier;
    x.earlier = x.later = undefined;
    this.#size--;
  }

  /** The exchanges that began at or before `ms`, oldest first. */
  startedBy(ms: number): readonly Exchange[] {
    const found: Exchange[] = [];
    for (let x = this.#oldest; x !== undefined && x.startedAtMs <= ms; x = x.later) found.push(x);
    return found;
  }
}
