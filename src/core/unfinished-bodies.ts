// Limits the number of requests whose bodies are still arriving: above it, the callers with the most lose their newest.
import type { Exchange } from './exchange.ts';
import type { Refusal } from './outcome.ts';

export interface UnfinishedBodies {
  /** Limit for the whole process. */
  readonly max: number;
  /** Identifies the caller as far as known; the same for all requests of one caller. */
  readonly callerOf: (x: Exchange) => string;
  /** The refusal for the newest ones. */
  readonly refusal: Refusal;
}

/** A body that arrives sooner is not slow; nearly every request is over by then. */
export const UNFINISHED_MS = 250;

/**
 * The requests to end if there are more than `max`: each caller keeps the same number, or all if it has fewer, oldest first. So
 * bodies that never end use up their sender's share and nobody else's. `begun` is in order of arrival.
 */
export function surplus(begun: readonly Exchange[], { max, callerOf }: Pick<UnfinishedBodies, 'max' | 'callerOf'>): readonly Exchange[] {
  const unfinished = begun.filter((x) => x.bodyDue && !x.waiting && !x.answered);
  if (unfinished.length <= max) return [];
  const callers = [...Map.groupBy(unfinished, callerOf).values()];
  const counts = callers.map(({ length }) => length);
  const share = shareOf(counts, max);
  return callers.flatMap((of) => of.slice(share));
}

/** The largest number that each may keep so that the total stays within `max`. */
function shareOf(counts: readonly number[], max: number): number {
  let left = max;
  const rising = counts.toSorted((a, b) => a - b);
  for (const [index, count] of rising.entries()) {
    const share = Math.floor(left / (rising.length - index));
    if (count > share) return share;
    left -= count;
  }
  return Infinity;
}
