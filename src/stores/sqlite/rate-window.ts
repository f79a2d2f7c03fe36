// The places of the last second: numbered rows, of which the one that decides is a single look-up whatever the limit.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';

/** A team's window as an admission has read it. */
export interface WindowState {
  readonly team: number;
  /** The number of the next place. */
  readonly placeNext: number;
  readonly placeNewestMs: number | null;
  /** When the place was taken that must be free again, the one a full limit before the next; null when there is none. */
  readonly placeDecisiveMs: number | null;
  /** The limit. */
  readonly requestsPerSecond: number;
}

/** Old places are cleared away every so many new ones, twice as many at a time, so that they cannot pile up. */
const TRIM_EVERY = 32;
const TRIM_MAX = 64;

export class RateWindow {
  readonly #shift: StatementSync;
  readonly #shiftNewest: StatementSync;
  readonly #take: StatementSync;
  readonly #oldest: StatementSync;
  readonly #place: StatementSync;
  readonly #trim: StatementSync;

  constructor(database: DatabaseSync) {
    this.#shift = database.prepare('UPDATE places SET at_ms = at_ms - ? WHERE team = ?');
    this.#shiftNewest = database.prepare('UPDATE teams SET place_newest_ms = ? WHERE no = ?');
    this.#take = database.prepare('INSERT INTO places (team, seq, at_ms) VALUES (?, ?, ?)');
    this.#oldest = database.prepare('SELECT at_ms FROM places WHERE team = ? ORDER BY seq LIMIT 1');
    this.#oldest.setReturnArrays(true);
    this.#place = database.prepare('SELECT at_ms FROM places WHERE team = ? AND seq = ?');
    this.#place.setReturnArrays(true);
    this.#trim = database.prepare(`DELETE FROM places WHERE team = ? AND at_ms <= ? AND seq IN
      (SELECT seq FROM places WHERE team = ? ORDER BY seq LIMIT ${TRIM_MAX})`);
  }

  /** How long until a place is free, 0 when one is. */
  waitMs(window: WindowState, nowMs: number): number {
    const { team, placeNewestMs, placeDecisiveMs } = window;
    let backMs = 0;
    if (placeNewestMs !== null && placeNewestMs > nowMs) {
      // The clock has stepped back, and the places go with it.
      backMs = placeNewestMs - nowMs;
      this.#shift.run(backMs, team);
      this.#shiftNewest.run(nowMs, team);
    }
    if (placeDecisiveMs === null) return 0;
    const waitMs = placeDecisiveMs - backMs + RATE_WINDOW_MS - nowMs;
    if (waitMs <= 0) return 0;
    // A place that was once found free stays so, also when the clock steps back before the next one is taken.
    const oldest = this.#oldest.get(team) as unknown as [atMs: number] | undefined;
    if (oldest !== undefined && nowMs - oldest[0] >= RATE_WINDOW_MS) this.#trim.run(team, nowMs - RATE_WINDOW_MS, team);
    return waitMs;
  }

  /**
   * How many places are left when one more is taken now. To be asked before it is, and when `waitMs` was 0. Searches by
   * halves, since a limit may be high: places are in order, and those that were cleared away had ended.
   */
  left({ team, placeNext, requestsPerSecond }: WindowState, nowMs: number): number {
    // The decisive place has ended, so whatever counts stands behind it.
    let [low, high] = [Math.max(0, placeNext - requestsPerSecond + 1), placeNext];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const place = this.#place.get(team, middle) as unknown as [atMs: number] | undefined;
      if (place === undefined || nowMs - place[0] >= RATE_WINDOW_MS) low = middle + 1;
      else high = middle;
    }
    return requestsPerSecond - (placeNext - low) - 1;
  }

  /** The caller moves the team's `place_next` and `place_newest_ms` on, in the update that it makes anyway. */
  take({ team, placeNext }: WindowState, nowMs: number): void {
    this.#take.run(team, placeNext, nowMs);
    if (placeNext % TRIM_EVERY === 0) this.#trim.run(team, nowMs - RATE_WINDOW_MS, team);
  }
}
