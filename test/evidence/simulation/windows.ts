// Limits by minute to month in a run: what teams and keys have, and the moments around which runs begin.
import { WINDOWS, writtenWindows } from '../../../src/domain/window-limits.ts';
import type { WindowLimit } from '../../../src/domain/window-limits.ts';
import type { Random } from './random.ts';

/** Three seconds before a minute, an hour and a day end, of a Sunday; of a month that is no Sunday; of February; of a year. */
const BEGINNINGS = [
  Date.UTC(2040, 0, 15, 23, 59, 57),
  Date.UTC(2040, 0, 31, 23, 59, 57),
  Date.UTC(2040, 1, 29, 23, 59, 57),
  Date.UTC(2039, 11, 31, 23, 59, 57),
];

/** The wall clock at the beginning of a run: a day ends in the middle of most runs. */
export function drawBeginning(random: Random): number {
  return random.pick(BEGINNINGS);
}

const SMALL = [8, 20, 30, 40];

/** One to three entries, small enough to be reached and large enough to be useful. `most`: the numbers of characters. */
export function drawWindows(random: Random, most: readonly number[] = SMALL): string {
  const limits = Array.from({ length: random.int(1, 3) }, (): WindowLimit => {
    const per = random.pick(WINDOWS);
    const requests = random.pick([1, 4, 15, 40]);
    const characters = random.pick(most);
    return random.pick<WindowLimit>([
      { per, requests },
      { per, characters },
      { per, characters },
      { per, requests, characters },
    ]);
  });
  return writtenWindows(limits);
}
