// Time-dependent changes to a team: leases expire, and new periods begin.
import type { DatabaseSync } from 'node:sqlite';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Books } from './books.ts';
import type { Periods } from './periods.ts';
import { EXPIRED, OPEN } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamBooks } from './team-books.ts';

const ALL = -1;

const SQL = {
  expire: tuples<[periodNo: number, characters: number, priceMicro: number, key: number]>(`
    UPDATE operations SET state = ${EXPIRED}, until_ms = until_ms + ${REMEMBER_MS} WHERE (request_id, team) IN
      (SELECT request_id, team FROM operations WHERE team = ? AND state = ${OPEN} AND until_ms <= ? ORDER BY until_ms LIMIT ?)
    RETURNING period_no, characters, price_micro, key`),
  nextEnd: tuples<[number | null]>(`SELECT min(until_ms) FROM operations WHERE team = ? AND state = ${OPEN}`),
};

export class Expiry {
  readonly #books: Books;
  readonly #periods: Periods;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, books: Books, periods: Periods) {
    this.#books = books;
    this.#periods = periods;
    this.#sql = prepared(database, SQL);
  }

  /** Brings a team up to date. Call it before its counts are read or changed. */
  run(team: TeamBooks, nowMs: number): void {
    if (nowMs >= team.leaseDueMs) this.endLeases(team, nowMs, ALL);
    if (nowMs >= team.counts.periodEndMs) this.#periods.start(team, nowMs);
  }

  /** Releases what expired leases hold: at most `rowsMax`, oldest first. */
  endLeases(team: TeamBooks, nowMs: number, rowsMax: number): void {
    const ended = this.#sql.expire.all(team.no, nowMs, rowsMax);
    const limitsKeys = ended.length > 0 && this.#books.limitsKeys(team);
    for (const [periodNo, characters, priceMicro, key] of ended) {
      if (limitsKeys) this.#books.hold(this.#books.keyOf(team, key), -characters, periodNo);
      team.counts.heldMicro -= priceMicro;
      // Holds of a past period are no longer in the counters.
      if (periodNo === team.counts.periodNo) team.counts.heldCharacters -= characters;
      this.#books.touch(team);
    }
    // The cached reservations may have expired: look them up in the file from now on.
    team.held.clear();
    const [nextMs] = this.#sql.nextEnd.get(team.no)!;
    team.leaseDueMs = nextMs ?? Infinity;
  }
}
