// Money as whole numbers: millionths of a minor currency unit, never floats, never negative.

/** Millionths of a minor unit (of a cent, for EUR). A price per million characters times characters is in this unit exactly. */
export type Micro = number;

export const MICRO_PER_MINOR = 1_000_000;

/** The largest amount of minor units whose millionths are still exact integers. */
export const MINOR_MAX = Math.floor(Number.MAX_SAFE_INTEGER / MICRO_PER_MINOR);

/** The price of `characters`: exact, because minor units per million equal millionths per one. */
export function costMicro(characters: number, minorPerMillion: number): Micro {
  return characters * minorPerMillion;
}

export function toMicro(minor: number): Micro {
  return minor * MICRO_PER_MINOR;
}

/** For what a caller has: never overstated. */
export function minorRoundedDown(micro: Micro): number {
  return Math.floor(micro / MICRO_PER_MINOR);
}

/** For what a caller needs: never understated. */
export function minorRoundedUp(micro: Micro): number {
  return Math.ceil(micro / MICRO_PER_MINOR);
}

/** How many characters beyond the included ones a cap covers. A cap or price of 0 means none. */
export function overageCharacters(capMinor: number, minorPerMillion: number): number {
  return minorPerMillion === 0 ? 0 : Math.floor(toMicro(capMinor) / minorPerMillion);
}
