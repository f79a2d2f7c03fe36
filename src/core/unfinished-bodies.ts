// Bounds the requests whose bodies are still arriving: beyond it, whoever has most of them loses the newest.
import type { Exchange } from './exchange.ts';
import type { Refusal } from './outcome.ts';

export interface UnfinishedBodies {
  /** Of the process. */
  readonly max: number;
  /** Who sends it, as far as that is known; the same for all of one caller. */
  readonly callerOf: (x: Exchange) => string;
  /** What the newest are answered. */
  readonly refusal: Refusal;
}

/** A body that has come by then is none that arrives slowly; nearly every request is over by then. */
export const UNFINISHED_MS = 250;

/**
 * Those of them that have to go, where there are more than `max`: each caller keeps the same number, or all of a smaller one, oldest
 * first. So bodies that never end use up their sender's share and nobody else's. `begun` is in order of arrival.
 */
export function surplus(begun: readonly Exchange[], { max, callerOf }: Pick<UnfinishedBodies, 'max' | 'callerOf'>): readonly Exchange[] {
  const unfinished = begun.filter((x) => x.bodyDue && !x.waiting && !x.answered);
  if (unfinished.length <= max) return [];
  const callers = new Map<string, Exchange[]>();
  for (const x of unfinished) {
    const caller = callerOf(x);
    const of = callers.get(caller);
    if (of === undefined) callers.set(caller, [x]);
    else of.push(x);
  }
  const share = shareOf(
    [...callers.values()].map(({ length }) => length),
    max,
  );
  return [...callers.values()].flatMap((of) => of.slice(share));
}

/** The largest number that each of these may keep so that all together keep at most `max`. */
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
