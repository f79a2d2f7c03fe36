// The slots taken in the last second as counts per millisecond, packed oldest first: exact for any limit, with at most 1,000
// entries.
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';

/** A number below 2^53 takes at most eight bytes of seven bits; an entry has two numbers. */
const ENTRY_BYTES_MAX = 16;
const BYTES_AT_FIRST = 32;

/**
 * Each entry consists of the milliseconds since the previous entry and the number of slots taken then, both as varints; the
 * first entry's distance is meaningless. The time of the newest entry is stored separately.
 */
export class RateWindow {
  #bytes: Uint8Array;
  #start = 0;
  #end: number;
  /** Position of the newest entry's count, and that count. */
  #newestAt = 0;
  #newestCount = 0;
  /** The number of slots kept; right after `waitMs` or `take`, none of them has expired. */
  total = 0;
  #oldestMs = 0;
  newestMs: number;
  #read = 0;

  constructor(packed: Uint8Array, newestMs: number) {
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
      this.total += this.#newestCount;
    }
    this.#oldestMs = newestMs - sinceOldestMs;
  }

  /** The stored form; valid until the next change. */
  packed(): Uint8Array {
    return this.#bytes.subarray(this.#start, this.#end);
  }

  /** The times and counts of all entries, including expired ones. */
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

  /** Whether one more certainly fits, without changing anything. If false, `waitMs` gives the exact result. */
  hasRoom(limit: number, nowMs: number): boolean {
    return this.total < limit && this.newestMs <= nowMs;
  }

  /** How long until one more fits; 0 if it fits now. Removes expired slots. */
  waitMs(limit: number, nowMs: number): number {
    this.#settle(nowMs);
    return this.#waitMs(limit, nowMs);
  }

  /** The same for a request that will not take a slot. Keeps expired slots, because they may count again after a clock step. */
  waitMsKept(limit: number, nowMs: number): number {
    this.#move(nowMs);
    return Math.max(0, this.#waitMs(limit, nowMs));
  }

  #waitMs(limit: number, nowMs: number): number {
    let over = this.total - limit;
    if (over < 0) return 0;
    // The slot that must expire is the oldest one, unless the limit was lowered meanwhile.
    let at = this.#start;
    let atMs = this.#oldestMs;
    for (;;) {
      this.#varint(at);
      over -= this.#varint(this.#read);
      if (over < 0) return atMs + RATE_WINDOW_MS - nowMs;
      at = this.#read;
      atMs += this.#varint(at);
    }
  }

  take(nowMs: number): void {
    this.#settle(nowMs);
    this.total++;
    if (this.total > 1 && this.newestMs === nowMs) {
      this.#newestCount++;
      this.#end = this.#newestAt;
    } else {
      const gapMs = this.total > 1 ? nowMs - this.newestMs : 0;
      if (this.total === 1) this.#oldestMs = nowMs;
      this.newestMs = nowMs;
      this.#newestCount = 1;
      this.#append(gapMs);
      this.#newestAt = this.#end;
    }
    this.#append(this.#newestCount);
  }

  /** If the clock has stepped back, moves the slots back with it. */
  #move(nowMs: number): void {
    if (this.total === 0 || this.newestMs <= nowMs) return;
    this.#oldestMs -= this.newestMs - nowMs;
    this.newestMs = nowMs;
  }

  /** Also removes expired slots. */
  #settle(nowMs: number): void {
    this.#move(nowMs);
    while (this.total > 0 && nowMs - this.#oldestMs >= RATE_WINDOW_MS) {
      this.#varint(this.#start);
      this.total -= this.#varint(this.#read);
      this.#start = this.#read;
      if (this.total > 0) this.#oldestMs += this.#varint(this.#start);
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
    const kept = this.packed();
    const bytes = kept.length * 2 > this.#bytes.length ? new Uint8Array(this.#bytes.length * 2) : this.#bytes;
    bytes.set(kept);
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
