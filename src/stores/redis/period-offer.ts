// The bounds of a period. Scripts ask the driver for them, because Lua has no calendar.
import { parseDuration, periodAt } from '../../domain/period.ts';

/** The bounds, and what they were computed from. */
export interface Offer {
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  /** ISO 8601 duration. */
  readonly length: string;
}

/** The period that contains `nowMs`, counted from `anchorMs` by the period's length. Throws when that is no duration. */
export function boundsFor(nowMs: number, anchorMs: number, length: string): Offer {
  const duration = parseDuration(length);
  if (duration === undefined) throw new Error('a team has a period that is not a duration');
  return { ...periodAt(anchorMs, duration, nowMs), anchorMs, length };
}
