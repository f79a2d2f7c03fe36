// The requests of a subject's last second, as counts by millisecond: exact at every instant for any rate, with at most 1,000
// entries. Packed, because a store writes them with every admission.
import { RATE_WINDOW_MS } from '../domain/reservation.ts';

/** A number below 2^53 takes at most eight bytes of seven bits; an entry has two numbers. */
const ENTRY_BYTES_MAX = 16;
const BYTES_AT_FIRST = 32;
const NO_BYTES = new Uint8Array();

/**
 * Each entry consists of the milliseconds since the previous entry and the number of slots taken then, both as varints; the
 * first entry's distance is meaningless. The time of the newest entry is stored separately.
 */
export class Slots {
  #bytes: Uint8Array;
  #start = 0;
  #end: number;
  /** Position of the newest entry's count, and that count. */
  #newestAt = 0;
  #newestCount = 0;
  /** How many there are; right after `take`, none of them is older than a second. To be read only. */
  taken = 0;
  #oldestMs = 0;
  newestMs: number;
  #read = 0;

  constructor(packed: Uint8Array = NO_BYTES, newestMs = 0) {
    this.#bytes = new Uint8Array(Math.max(BYTES_AT_FIRST, packed.length + ENTRY_BYTES_MAX));
    this.#bytes.set(packed);
    this.#end = packed.length;
    this.newestMs = newestMs;
    let sinceOldestMs = 0;
    for (let at = 0; at < this.#end; at = this.#read) {
      const gapMs = this.#varint(at);
      if (at > 0) sinceOldestMs += gapMs;
      this.#newestAt = this.#read;
      this.#newestCount = this.#varint(this.#newestAt);
      this.taken += this.#newestCount;
    }
    this.#oldestMs = newestMs - sinceOldestMs;
  }

  /** The stored form; valid until the next change. */
  packed(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** The times and counts of all entries, including those older than a second. */
  entries(): { readonly atMs: number; readonly count: number }[] {
    const entries: { readonly atMs: number; readonly count: number }[] = [];
    let atMs = this.#oldestMs;
    for (let at = this.#start; at < this.#end; at = this.#read) {
      const gapMs = this.#varint(at);
      if (at > this.#start) atMs += gapMs;
      entries.push({ atMs, count: this.#varint(this.#read) });
    }
    return entries;
  }

  /** How long until one more fits; 0 if it does now. Moves with the clock, but drops nothing: the clock may step back again. */
  waitMs(limit: number, nowMs: number): number {
    this.#moveBack(nowMs);
    return this.taken < limit ? 0 : Math.max(0, this.#freeAtMs(limit) - nowMs);
  }

  #freeAtMs(limit: number): number {
    let over = this.taken - limit;
    // The slot that must expire is the oldest one, unless the limit was lowered meanwhile.
    let at = this.#start;
    let atMs = this.#oldestMs;
    for (;;) {
      this.#varint(at);
      over -= this.#varint(this.#read);
      if (over < 0) return atMs + RATE_WINDOW_MS;
      at = this.#read;
      atMs += this.#varint(at);
    }
  }

  /** Drops what is older than a second, and takes one more. */
  take(nowMs: number): void {
    this.#drop(nowMs);
    this.taken++;
    if (this.taken > 1 && this.newestMs === nowMs) {
      this.#newestCount++;
      this.#end = this.#newestAt;
    } else {
      const gapMs = this.taken > 1 ? nowMs - this.newestMs : 0;
      if (this.taken === 1) this.#oldestMs = nowMs;
      this.newestMs = nowMs;
      this.#newestCount = 1;
      this.#append(gapMs);
      this.#newestAt = this.#end;
    }
    this.#append(this.#newestCount);
  }

  /** Adds what was taken at a moment that is not before the newest. */
  add(atMs: number, count: number): void {
    if (this.taken === 0) this.#oldestMs = atMs;
    this.#append(this.taken === 0 ? 0 : atMs - this.newestMs);
    this.taken += count;
    this.newestMs = atMs;
    this.#newestAt = this.#end;
    this.#newestCount = count;
    this.#append(count);
  }

  /** If the clock has stepped back, moves the slots back with it. */
  #moveBack(nowMs: number): void {
    if (this.taken === 0 || this.newestMs <= nowMs) return;
    this.#oldestMs -= this.newestMs - nowMs;
    this.newestMs = nowMs;
  }

  #drop(nowMs: number): void {
    this.#moveBack(nowMs);
    while (this.taken > 0 && nowMs - this.#oldestMs >= RATE_WINDOW_MS) {
      this.#varint(this.#start);
      this.taken -= this.#varint(this.#read);
      this.#start = this.#read;
      if (this.taken > 0) this.#oldestMs += this.#varint(this.#start);
      else this.#start = this.#end = 0;
    }
  }

  #append(value: number): void {
    if (this.#end + ENTRY_BYTES_MAX > this.#bytes.length) this.#makeRoom();
    let rest = value;
    while (rest > 127) {
      this.#bytes[this.#end++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    this.#bytes[this.#end++] = rest;
  }

  /** Moves the entries to the front, doubling the space unless that already frees half of it. */
  #makeRoom(): void {
    const packed = this.packed();
    const bytes = packed.length * 2 > this.#bytes.length ? new Uint8Array(this.#bytes.length * 2) : this.#bytes;
    bytes.set(packed);
    this.#newestAt -= this.#start;
    this.#end -= this.#start;
    this.#start = 0;
    this.#bytes = bytes;
  }

  /** The number at `at`; afterwards `#read` is the position of the next one. */
  #varint(at: number): number {
    let value = 0;
    let factor = 1;
    let next = at;
    for (;;) {
      const byte = this.#bytes[next++]!;
      if (byte < 128) {
        this.#read = next;
        return value + byte * factor;
      }
      value += (byte - 128) * factor;
      factor *= 128;
    }
  }
}

/** As a list of times has them. */
export function slotsOf(entries: readonly { readonly atMs: number; readonly count: number }[]): Slots {
  const slots = new Slots();
  for (const { atMs, count } of entries) slots.add(atMs, count);
  return slots;
}
