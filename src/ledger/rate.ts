// The requests of a subject's last second, as counts by millisecond: exact at every instant for any rate, with at most 1,000
// entries. As bytes they are small, because a store writes them with every admission.
import { RATE_WINDOW_MS } from '../domain/reservation.ts';

/** How many were taken in a millisecond. */
interface Entry {
  atMs: number;
  count: number;
}

/** Of an entry as it is stored: its count, and in the lowest ten bits how long before the newest it was. */
const ENTRY_BYTES = 4;
const AGES = 1024;

export class Slots {
  /** Oldest first; none is a second older than the newest. */
  readonly #entries: Entry[] = [];
  /** How many there are; right after `take`, none of them is older than a second. To be read only. */
  taken = 0;
  /** Never empty, because drivers take an array without a buffer for null. */
  #view = new DataView(new ArrayBuffer(8 * ENTRY_BYTES));

  constructor(packed: Uint8Array = new Uint8Array(), newestMs = 0) {
    const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
    for (let at = 0; at + ENTRY_BYTES <= packed.length; at += ENTRY_BYTES) {
      const entry = view.getUint32(at, true);
      this.add(newestMs - (entry % AGES), Math.floor(entry / AGES));
    }
  }

  /** Stored beside `packed`; 0 if there are none. */
  get newestMs(): number {
    return this.#entries.at(-1)?.atMs ?? 0;
  }

  /** Valid until the next call. */
  packed(): Uint8Array {
    const { newestMs } = this;
    const { length } = this.#entries;
    if (this.#view.byteLength < length * ENTRY_BYTES) this.#view = new DataView(new ArrayBuffer(2 * length * ENTRY_BYTES));
    for (let i = 0; i < length; i++) {
      const { atMs, count } = this.#entries[i]!;
      this.#view.setUint32(i * ENTRY_BYTES, count * AGES + newestMs - atMs, true);
    }
    return new Uint8Array(this.#view.buffer, 0, length * ENTRY_BYTES);
  }

  /** Valid until the next change. */
  entries(): readonly Readonly<Entry>[] {
    return this.#entries;
  }

  /** How long until one more fits; 0 if it does now. Moves with the clock, but drops nothing: the clock may step back again. */
  waitMs(limit: number, nowMs: number): number {
    this.#moveBack(nowMs);
    let over = this.taken - limit;
    if (over < 0) return 0;
    // The slot that must expire is the oldest one, unless the limit was lowered meanwhile.
    const last = this.#entries.find(({ count }) => (over -= count) < 0)!;
    return Math.max(0, last.atMs + RATE_WINDOW_MS - nowMs);
  }

  take(nowMs: number): void {
    this.#moveBack(nowMs);
    this.add(nowMs, 1);
  }

  /** Adds what was taken at a moment that is not before the newest, and drops what is older than a second then. */
  add(atMs: number, count: number): void {
    while (this.#entries.length > 0 && atMs - this.#entries[0]!.atMs >= RATE_WINDOW_MS) this.taken -= this.#entries.shift()!.count;
    const newest = this.#entries.at(-1);
    if (newest?.atMs === atMs) newest.count += count;
    else this.#entries.push({ atMs, count });
    this.taken += count;
  }

  /** If the clock has stepped back, moves the slots back with it. */
  #moveBack(nowMs: number): void {
    const byMs = this.newestMs - nowMs;
    if (byMs > 0) for (const entry of this.#entries) entry.atMs -= byMs;
  }
}

/** As a list of times has them. */
export function slotsOf(entries: readonly Readonly<Entry>[]): Slots {
  const slots = new Slots();
  for (const { atMs, count } of entries) slots.add(atMs, count);
  return slots;
}
