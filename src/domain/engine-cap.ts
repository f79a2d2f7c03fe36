// What an engine may cost: a number of characters in each minute, hour, day, week or month of UTC, counted over all gateways.
import { DAY_MS } from './period.ts';

export const CAP_TIMES = ['minute', 'hour', 'day', 'week', 'month'] as const;

export interface EngineCap {
  readonly per: (typeof CAP_TIMES)[number];
  /** Characters, at least 1. */
  readonly most: number;
}

/** From `startMs` until just before `endMs`. */
export interface CapWindow {
  readonly startMs: number;
  readonly endMs: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 7 * DAY_MS;
/** From the first Monday to 1970-01-01, a Thursday. */
const MONDAY_MS = 3 * DAY_MS;

/** The window that contains a moment, in UTC; weeks begin on Monday. */
export function capWindow(per: EngineCap['per'], nowMs: number): CapWindow {
  if (per === 'month') {
    const now = new Date(nowMs);
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()];
    return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  }
  const lengthMs = { minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: WEEK_MS }[per];
  const sinceMs = per === 'week' ? MONDAY_MS : 0;
  const startMs = Math.floor((nowMs + sinceMs) / lengthMs) * lengthMs - sinceMs;
  return { startMs, endMs: startMs + lengthMs };
}
