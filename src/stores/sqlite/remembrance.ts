// Ids of requests that stand resolved: kept until they are forgotten, and cleared away in small batches.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import { RELEASED } from './schema.ts';

/** An id past its time counts as never seen wherever it is read; rows are cleared away every so many, twice as many at a time. */
const CLEAR_EVERY = 32;
const CLEAR_MAX = 64;

export class Remembrance {
  readonly #insert: StatementSync;
  readonly #due: StatementSync;
  readonly #clear: StatementSync;
  #sinceCleared = 0;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(`INSERT OR REPLACE INTO operations (request_id, team, state, until_ms, characters, price_micro)
      VALUES (?, ?, ${RELEASED}, ?, 0, 0)`);
    this.#due = database.prepare('SELECT 1 FROM operations WHERE state > 0 AND until_ms <= ? LIMIT 1');
    this.#clear = database.prepare(`DELETE FROM operations WHERE (request_id, team) IN
      (SELECT request_id, team FROM operations WHERE state > 0 AND until_ms <= ? ORDER BY until_ms LIMIT ?)`);
  }

  /** An id that reserves nothing: it stands as released from now on. */
  addReleased(team: number, requestId: string, nowMs: number): void {
    this.#insert.run(requestId, team, nowMs + REMEMBER_MS);
  }

  /** Called once for each id that comes in, so that no more of them are kept than clearing keeps up with. */
  tick(nowMs: number): void {
    if (++this.#sinceCleared < CLEAR_EVERY) return;
    this.#sinceCleared = 0;
    this.clear(nowMs, CLEAR_MAX);
  }

  /** Of all teams, the longest due first. */
  clear(nowMs: number, rowsMax: number): void {
    this.#clear.run(nowMs, rowsMax);
  }

  isDue(nowMs: number): boolean {
    return this.#due.get(nowMs) !== undefined;
  }
}
