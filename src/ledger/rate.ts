// The requests of a subject's last second, as counts by millisecond: exact at every instant for any rate, with at most 1,000
// entries. Their form is that in which a store writes them, which it does with every admission.
import { RATE_WINDOW_MS } from '../domain/admission.ts';

/** How many were taken in a millisecond. */
interface Taken {
  readonly atMs: number;
  readonly count: number;
}

/**
 * An entry is how many slots were taken, and in its lowest ten bits how many milliseconds after the entry before: less than a second.
 * More slots of a millisecond than one can have are in further entries.
 */
const GAPS = 1024;
const COUNT_MAX = 63;
const ENTRY_BYTES = Uint16Array.BYTES_PER_ELEMENT;
const ENTRIES_AT_FIRST = 16;

export class Slots {
  #entries: Uint16Array<ArrayBuffer>;
  /** Those that count are from `#first` to before `#end`; what is before the first is forgotten, and so is its distance to it. */
  #first = 0;
  #end: number;
  #oldestMs: number;
  /** Stored beside `packed`. */
  newestMs: number;
  /** How many slots there are; right after `take`, none of them is older than a second. To be read only. */
  taken = 0;

  constructor(packed: Uint8Array = new Uint8Array(), newestMs = 0) {
    this.#end = Math.floor(packed.length / ENTRY_BYTES);
    // Never empty, because drivers take bytes without a buffer for null.
    this.#entries = new Uint16Array(this.#end + ENTRIES_AT_FIRST);
    new Uint8Array(this.#entries.buffer).set(packed.subarray(0, this.#end * ENTRY_BYTES));
    this.#oldestMs = this.newestMs = newestMs;
    for (let i = 0; i < this.#end; i++) {
      this.taken += this.#countOf(i);
      if (i > 0) this.#oldestMs -= this.#gapOf(i);
    }
  }

  /** The stored form; valid until the next change. */
  packed(): Uint8Array {
    return new Uint8Array(this.#entries.buffer, this.#first * ENTRY_BYTES, (this.#end - this.#first) * ENTRY_BYTES);
  }

  /** Oldest first. */
  entries(): readonly Taken[] {
    let atMs = this.#oldestMs;
    return Array.from(this.#entries.subarray(this.#first, this.#end), (_entry, i) => {
      if (i > 0) atMs += this.#gapOf(this.#first + i);
      return { atMs, count: this.#countOf(this.#first + i) };
    });
  }

  /** How long until one more fits; 0 if it does now. Moves with the clock, but drops nothing: the clock may step back again. */
  waitMs(limit: number, nowMs: number): number {
    this.#moveBack(nowMs);
    let over = this.taken - limit;
    if (over < 0) return 0;
    // The slot that must expire is the oldest one, unless the limit was lowered meanwhile.
    let [i, atMs] = [this.#first, this.#oldestMs];
    while ((over -= this.#countOf(i)) >= 0) atMs += this.#gapOf(++i);
    return Math.max(0, atMs + RATE_WINDOW_MS - nowMs);
  }

  take(nowMs: number): void {
    this.#moveBack(nowMs);
    this.add(nowMs, 1);
  }

  /** Adds what was taken at a moment that is not before the newest, and drops what is older than a second then. */
  add(atMs: number, count: number): void {
    while (this.taken > 0 && atMs - this.#oldestMs >= RATE_WINDOW_MS) {
      this.taken -= this.#countOf(this.#first++);
      if (this.taken > 0) this.#oldestMs += this.#gapOf(this.#first);
    }
    for (let i = 0; i < count; i++) this.#addOne(atMs);
  }

  #addOne(atMs: number): void {
    if (this.taken > 0 && atMs === this.newestMs && this.#countOf(this.#end - 1) < COUNT_MAX) this.#entries[this.#end - 1]! += GAPS;
    else {
      if (this.taken === 0) this.#oldestMs = this.newestMs = atMs;
      if (this.#end === this.#entries.length) this.#makeRoom();
      this.#entries[this.#end++] = GAPS + atMs - this.newestMs;
      this.newestMs = atMs;
    }
    this.taken++;
  }

  #countOf(i: number): number {
    return Math.floor(this.#entries[i]! / GAPS);
  }

  #gapOf(i: number): number {
    return this.#entries[i]! % GAPS;
  }

  /** If the clock has stepped back, moves the slots back with it. */
  #moveBack(nowMs: number): void {
    if (this.newestMs <= nowMs) return;
    this.#oldestMs -= this.newestMs - nowMs;
    this.newestMs = nowMs;
  }

  /** Moves the entries to the front, with as much room behind them. */
  #makeRoom(): void {
    const entries = this.#entries.subarray(this.#first, this.#end);
    this.#entries = new Uint16Array(2 * entries.length + ENTRIES_AT_FIRST);
    this.#entries.set(entries);
    [this.#first, this.#end] = [0, entries.length];
  }
}

/** As a list of times has them. */
export function slotsOf(entries: readonly Taken[]): Slots {
  const slots = new Slots();
  for (const { atMs, count } of entries) slots.add(atMs, count);
  return slots;
}
