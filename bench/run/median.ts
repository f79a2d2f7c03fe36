// The median of a few numbers, and their spread.

export interface Spread {
  readonly median: number;
  /** The middle half lies between these. */
  readonly low: number;
  readonly high: number;
  readonly least: number;
  readonly most: number;
}

/** NaN if empty. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spread(values: readonly number[]): Spread {
  return {
    median: median(values),
    low: quantile(values, 0.25),
    high: quantile(values, 0.75),
    least: Math.min(...values),
    most: Math.max(...values),
  };
}

/** The middle half's width as a share of the median. */
export function width({ median: middle, low, high }: Spread): number {
  return (high - low) / middle;
}

/** Interpolated between two neighbours. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
  return low + (high - low) * (at - Math.floor(at));
}
