// Bodies and files that move too slowly, or take the room of others. Above a number of unfinished
// bodies, callers with the most lose their newest; an unknown caller may have none that is slow; a
// transfer that is slow ends.
import type { Exchange } from './exchange.ts';
import type { Refusal } from './outcome.ts';

export interface UnfinishedBodies {
  /** Limit for the whole process. */
  readonly max: number;
  /** The key, if it is known; otherwise empty. */
  readonly keyOf: (x: Exchange) => string;
  /** Those of one key, or of none, share its room by where they come from. */
  readonly networkOf: (x: Exchange) => string;
  /** Bytes a second, from the first byte of the request on, of a body whose key is not known. */
  readonly slowest: number;
  /** The refusal for the newest ones. */
  readonly refusal: Refusal;
}

/** A body that arrives sooner is not slow; nearly every request is over by then. */
export const UNFINISHED_MS = 250;

/** Before that no body is too slow. */
export const SLOW_MS = 10_000;

export function isTooSlow(x: Exchange, nowMs: number, { keyOf, slowest }: Pick<UnfinishedBodies, 'keyOf' | 'slowest'>): boolean {
  if (!isUnfinished(x) || x.ownDeadline || keyOf(x) !== '') return false;
  return x.sink.receivedBytes < (slowest * (nowMs - x.startedAtMs)) / 1000;
}

/**
 * The requests to end if there are more than `max`: each caller keeps the same number, oldest
 * first, so nobody uses up others' share. `begun` is in order of arrival.
 */
export function surplus(
  begun: readonly Exchange[],
  { max, keyOf, networkOf }: Pick<UnfinishedBodies, 'max' | 'keyOf' | 'networkOf'>,
): readonly Exchange[] {
  return beyond(begun.filter(isUnfinished), max, [keyOf, networkOf]);
}

function isUnfinished(x: Exchange): boolean {
  return x.stage === 'arriving' && !x.waiting && !x.answered;
}

/** The room is shared by what the first function tells apart, and a share by the next one. */
function beyond(of: readonly Exchange[], max: number, [whose, ...others]: readonly ((x: Exchange) => string)[]): readonly Exchange[] {
  if (of.length <= max) return [];
  if (whose === undefined) return of.slice(max);
  const groups = [...Map.groupBy(of, whose).values()];
  const share = shareOf(
    groups.map(({ length }) => length),
    max,
  );
  return groups.flatMap((group) => beyond(group, share, others));
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

/** How often it is judged. */
const LOOK_SECONDS = 10;
/** A system takes some megabytes of a download at once, then nothing until most is read. */
export const READ_SECONDS = 180;

/** Bytes that must move: `slowest` a second, over `overSeconds`. */
export class TransferPace {
  readonly #looks: NodeJS.Timeout;
  /** What has moved and was not needed yet. */
  #spare: number;

  constructor(slowest: number, onSlow: () => void, overSeconds = LOOK_SECONDS) {
    const [needed, most] = [slowest * LOOK_SECONDS, slowest * overSeconds];
    this.#spare = most - needed;
    this.#looks = setInterval(() => {
      this.#spare = Math.min(most, this.#spare) - needed;
      if (this.#spare >= 0) return;
      this.end();
      onSlow();
    }, LOOK_SECONDS * 1000);
  }

  moved(bytes: number): void {
    this.#spare += bytes;
  }

  end(): void {
    clearInterval(this.#looks);
  }
}
