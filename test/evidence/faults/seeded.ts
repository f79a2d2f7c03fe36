// Reproducible randomness: faults and loads are drawn from a seed, which a failed run prints.
import { SEED } from '../../support/seed.ts';

export interface Seeded {
  readonly seed: number;
  /** From 0 to below 1. */
  fraction(): number;
  /** An integer from `first` to `last`, both included. */
  between(first: number, last: number): number;
  chance(share: number): boolean;
  oneOf<T>(choices: readonly T[]): T;
}

export function seeded(seed = SEED): Seeded {
  let state = seed >>> 0;
  const fraction = (): number => {
    // A Weyl sequence, mixed by two multiplications.
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
  const between = (first: number, last: number): number => first + Math.floor(fraction() * (last - first + 1));
  return { seed, fraction, between, chance: (share) => fraction() < share, oneOf: (choices) => choices[between(0, choices.length - 1)]! };
}
