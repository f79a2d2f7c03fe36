// The bounds of a period. Scripts ask the driver for them, because Lua has no calendar.
import { periodBy } from '../../domain/period-rule.ts';

/** The bounds, and what they were computed from. */
export interface Offer {
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  /** The rule by which they were. */
  readonly length: string;
}

/** The period that contains `nowMs`, counted from `anchorMs` by the team's rule. Throws when that is none. */
export function boundsFor(nowMs: number, anchorMs: number, length: string): Offer {
  return { ...periodBy(length, anchorMs, nowMs), anchorMs, length };
}
