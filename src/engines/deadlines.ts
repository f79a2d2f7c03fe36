// Deadlines that are all equally far away, with one timer for all: most attempts end long before theirs, and a timer each costs more.
import { performance } from 'node:perf_hooks';

/** Something that has a deadline; it is its own place in the queue. */
export interface Deadlined {
  dueMs: number;
  /** Neighbours in the order of their deadlines. */
  earlier: Deadlined | undefined;
  later: Deadlined | undefined;
  /** Called once, when the deadline has come and `remove` has not been called before. */
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

  /** The timer is left as it is: when it fires, only what is due then counts, and with an empty queue it is not set again. */
  remove(one: Deadlined): void {
    const { earlier, later } = one;
    if (earlier === undefined && this.#first !== one) return;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    one.earlier = one.later = undefined;
  }

  /** No deadline of those that are left passes any more. */
  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#timer = undefined;
  }

  #expire(): void {
    // Either the timer or the immediate led here; the other one must not fire as well.
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
    // One per turn of the event loop: the end of this one may let the next one start, too late, which has to be known before its own end.
    if (this.#first !== undefined) this.#turn = setImmediate(this.#onTimer);
  }
}
