// Checks a rate limit by the slots that were taken, each with the store's time.
import { RATE_WINDOW_MS } from '../../../src/domain/reservation.ts';
import type { Entry } from './entries.ts';

export interface Place {
  /** True time. */
  readonly atMs: number;
  readonly storeMs: number;
}

/** What is wrong with a refusal or an admission, if anything: exact in both directions. Slots before a jump of the clock are ignored. */
export function rateFault(
  places: readonly Place[],
  limit: number,
  refused: boolean,
  { storeMs }: Pick<Entry, 'storeMs'>,
  clockChangedAtMs: number,
): string | undefined {
  const decisive = places.at(-limit);
  if (decisive !== undefined && decisive.atMs < clockChangedAtMs) return undefined;
  const full = decisive !== undefined && storeMs - decisive.storeMs < RATE_WINDOW_MS;
  if (full === refused) return undefined;
  const since = decisive === undefined ? 'no' : `${storeMs - decisive.storeMs} ms since the`;
  return `was ${refused ? 'refused' : 'admitted'} with ${since} place ${limit} places ago`;
}
