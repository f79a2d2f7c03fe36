// Future events, the earliest first; those at the same moment in the order in which they were added.
import type { Process } from './virtual-time.ts';

export interface Event {
  atMs: number;
  order: number;
  readonly process: Process;
  readonly run: () => void;
  cancelled: boolean;
  done: boolean;
}

/** A binary heap. */
export class EventQueue {
  readonly #heap: Event[] = [];
  #added = 0;

  get first(): Event | undefined {
    return this.#heap[0];
  }

  add(event: Event): void {
    event.order = this.#added++;
    this.addAgain(event);
  }

  /** Its position among those added at the same moment. */
  addAgain(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  takeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}
