// A rate of N admits exactly N requests in any second, by the store's clock: never a slot too many, never a refusal too early.
import { RATE_WINDOW_MS } from '../../../src/domain/reservation.ts';

/** One admitted request. */
export interface Slot {
  readonly storeMs: number;
}

/** L6: what is wrong with an admission or a refusal after these slots, oldest first; exact in both directions. */
export function rateFault(slots: readonly Slot[], limit: number, isRefused: boolean, storeMs: number): string | undefined {
  const decisive = slots.at(-limit);
  const isFull = decisive !== undefined && storeMs - decisive.storeMs < RATE_WINDOW_MS;
  if (isFull === isRefused) return undefined;
  const since = decisive === undefined ? 'no slot' : `${storeMs - decisive.storeMs} ms since the slot`;
  return `was ${isRefused ? 'refused' : 'admitted'} at ${storeMs} with ${since} ${limit} slots ago`;
}

/**
 * L6, for a refusal of which only the span is known, as a caller sees it: whether the window was full at some moment of it. Slots in
 * order of time.
 */
export function wasFull(slots: readonly Slot[], limit: number, fromMs: number, toMs: number): boolean {
  let [low, high] = [0, slots.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (slots[middle]!.storeMs + RATE_WINDOW_MS <= fromMs) low = middle + 1;
    else high = middle;
  }
  // The first slot that still counted at the beginning, and each later one that is followed by enough others in time.
  for (let first = low; (slots[first + limit - 1]?.storeMs ?? Infinity) <= toMs; first++) {
    if (slots[first + limit - 1]!.storeMs < slots[first]!.storeMs + RATE_WINDOW_MS) return true;
  }
  return false;
}
