// The requests of a subject's last second, as counts by millisecond: exact at every instant for any rate.
import { RATE_WINDOW_MS } from '../domain/reservation.ts';

interface TakenSlots {
  atMs: number;
  count: number;
}

const NO_BYTES = new Uint8Array();
/** Whatever is older than a second is alike. */
const AGE_MS_MAX = 0xffff;

export class Slots {
  /** Oldest first. */
  readonly #entries: TakenSlots[] = [];
  /** How many there are; right after `take`, none of them is older than a second. To be read only. */
  taken = 0;

  /** As `packed` has written it, at the time of the newest. */
  constructor(packed: Uint8Array = NO_BYTES, newestMs = 0) {
    const numbers = new Uint16Array(new Uint8Array(packed).buffer);
    for (let i = 0; i < numbers.length; i += 2) this.add(newestMs - numbers[i]!, numbers[i + 1]!);
  }

  get newestMs(): number {
    return this.#entries.at(-1)?.atMs ?? 0;
  }

  /** Of each entry how long before the newest it was, and its count: a store writes them with every admission. */
  packed(): Uint8Array {
    const { newestMs } = this;
    // Some room more: SQLite takes an empty view of no memory for NULL.
    const numbers = new Uint16Array(2 * this.#entries.length + 1);
    for (const [i, { atMs, count }] of this.#entries.entries()) {
      numbers[2 * i] = Math.min(newestMs - atMs, AGE_MS_MAX);
      numbers[2 * i + 1] = count;
    }
    return new Uint8Array(numbers.buffer, 0, 4 * this.#entries.length);
  }

  /** The times and counts of all entries, including those older than a second. */
  entries(): readonly Readonly<TakenSlots>[] {
    return this.#entries.map((one) => ({ ...one }));
  }

  /** How long until one more fits; 0 if it does now. Moves with the clock, but drops nothing: the clock may step back again. */
  waitMs(limit: number, nowMs: number): number {
    this.#moveBack(nowMs);
    // The slot that must expire is the oldest one, unless the limit was lowered meanwhile.
    let over = this.taken - limit;
    if (over < 0) return 0;
    const last = this.#entries.find(({ count }) => (over -= count) < 0);
    return Math.max(0, (last?.atMs ?? nowMs) + RATE_WINDOW_MS - nowMs);
  }

  /** Drops what is older than a second, and takes one more. */
  take(nowMs: number): void {
    this.#moveBack(nowMs);
    for (let oldest = this.#entries[0]; oldest !== undefined && nowMs - oldest.atMs >= RATE_WINDOW_MS; oldest = this.#entries[0]) {
      this.taken -= oldest.count;
      this.#entries.shift();
    }
    const newest = this.#entries.at(-1);
    if (newest?.atMs !== nowMs) return this.add(nowMs, 1);
    newest.count++;
    this.taken++;
  }

  /** Adds what was taken at a moment that is not before the newest. */
  add(atMs: number, count: number): void {
    this.#entries.push({ atMs, count });
    this.taken += count;
  }

  /** If the clock has stepped back, moves the slots back with it. */
  #moveBack(nowMs: number): void {
    const byMs = this.newestMs - nowMs;
    if (byMs > 0) for (const one of this.#entries) one.atMs -= byMs;
  }
}

/** As a list of times has them. */
export function slotsOf(entries: readonly Readonly<TakenSlots>[]): Slots {
  const slots = new Slots();
  for (const { atMs, count } of entries) slots.add(atMs, count);
  return slots;
}
