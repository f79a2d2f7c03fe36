// Deadlines of equal duration with one shared timer: most attempts end long before theirs, and a timer for each would cost
// more.
import { performance } from 'node:perf_hooks';

/** An entry with a deadline, linked into the queue itself. */
export interface Deadlined {
  dueMs: number;
  /** Neighbours in deadline order. */
  earlier: Deadlined | undefined;
  later: Deadlined | undefined;
  /** Called once when the deadline passes, unless `remove` was called before. */
  deadlinePassed(): void;
}

export class Deadlines {
  readonly #afterMs: number;
  readonly #onTimer = (): void => this.#expire();
  #first: Deadlined | undefined = undefined;
  #last: Deadlined | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #turn: NodeJS.Immediate | undefined = undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  add(one: Deadlined): void {
    one.dueMs = performance.now() + this.#afterMs;
    one.earlier = this.#last;
    if (this.#last === undefined) this.#first = one;
    else this.#last.later = one;
    this.#last = one;
    this.#timer ??= setTimeout(this.#onTimer, this.#afterMs).unref();
  }

  /** Leaves the timer running: when it fires, only entries that are due count, and with an empty queue it is not restarted. */
  remove(one: Deadlined): void {
    const { earlier, later } = one;
    if (earlier === undefined && this.#first !== one) return;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    one.earlier = one.later = undefined;
  }

  /** No remaining deadline will fire. */
  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#timer = undefined;
  }

  #expire(): void {
    // Either the timer or the immediate called this; the other must not fire as well.
    this.close();
    const one = this.#first;
    if (one === undefined) return;
    const leftMs = one.dueMs - performance.now();
    if (leftMs > 0) {
      this.#timer = setTimeout(this.#onTimer, Math.ceil(leftMs)).unref();
      return;
    }
    this.remove(one);
    one.deadlinePassed();
    // One per turn of the event loop: ending this one may start the next waiting call too late, which must be known before that
    // one's own deadline.
    if (this.#first !== undefined) this.#turn = setImmediate(this.#onTimer);
  }
}
