// The bounds of a period, which scripts ask for because calendars are the driver's.
import { parseDuration, periodAt } from '../../domain/period.ts';

/** The bounds, and what they were computed from; all empty when none were asked for. */
export type Offer = readonly [startMs: string, endMs: string, period: string, createdMs: string];

export const NO_OFFER: Offer = ['', '', '', ''];

/** From a script's question: its time, a word, the team's creation and its period's length. */
export function boundsFor([nowMs, , createdMs, text]: readonly unknown[]): Offer {
  const duration = parseDuration(String(text));
  if (duration === undefined) throw new Error('a team has a period that is not a duration');
  const { startMs, endMs } = periodAt(Number(createdMs), duration, Number(nowMs));
  return [String(startMs), String(endMs), String(text), String(createdMs)];
}
