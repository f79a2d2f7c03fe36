// What a team's open reservations hold, by request id. Not a `Map`, which keeps removed entries alive under heavy turnover.

/** What a reservation holds, and for which key and period. */
export interface Held {
  /** The key's row number. */
  readonly key: number;
  readonly characters: number;
  readonly priceMicro: number;
  readonly periodNo: number;
}

interface Entry {
  readonly requestId: string;
  readonly held: Held;
  next: Entry | undefined;
}

const BUCKETS_AT_FIRST = 16;
/** Ids differ in their last characters, because they either count up or are random. */
const HASHED = 4;

/**
 * V8 moves a `Map` to a new table every few dozen changes, and the old table refers to the new one: once the old table is in
 * the old generation, it keeps everything added later alive until a full collection. Here entries only refer to older ones.
 */
export class HeldReservations {
  #buckets = emptyBuckets(BUCKETS_AT_FIRST);
  #size = 0;

  /** The id must not be in it yet. */
  add(requestId: string, held: Held): void {
    if (this.#size === this.#buckets.length * 2) this.#grow();
    const at = this.#bucketOf(requestId);
    this.#buckets[at] = { requestId, held, next: this.#buckets[at] };
    this.#size++;
  }

  /** Removes and returns the entry; `undefined` if there is none. */
  take(requestId: string): Held | undefined {
    const at = this.#bucketOf(requestId);
    let before: Entry | undefined;
    for (let entry = this.#buckets[at]; entry !== undefined; entry = entry.next) {
      if (entry.requestId === requestId) {
        if (before === undefined) this.#buckets[at] = entry.next;
        else before.next = entry.next;
        this.#size--;
        return entry.held;
      }
      before = entry;
    }
    return undefined;
  }

  clear(): void {
    if (this.#size === 0) return;
    this.#buckets = emptyBuckets(BUCKETS_AT_FIRST);
    this.#size = 0;
  }

  #bucketOf(requestId: string): number {
    let hash = 0;
    for (let at = Math.max(0, requestId.length - HASHED); at < requestId.length; at++) hash = hash * 31 + requestId.charCodeAt(at);
    return hash & (this.#buckets.length - 1);
  }

  #grow(): void {
    const before = this.#buckets;
    this.#buckets = emptyBuckets(before.length * 2);
    this.#size = 0;
    for (const first of before) for (let entry = first; entry !== undefined; entry = entry.next) this.add(entry.requestId, entry.held);
  }
}

function emptyBuckets(length: number): (Entry | undefined)[] {
  return Array.from({ length }, () => undefined);
}
