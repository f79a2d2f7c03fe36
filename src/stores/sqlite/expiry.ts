// What changes in a team's counts by time alone: leases end, and a new period begins.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parseDuration, periodAt } from '../../domain/period.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Books } from './books.ts';
import { EXPIRED, OPEN } from './sqlite-schema.ts';
import type { TeamBooks } from './team-books.ts';

const ALL = -1;

type Ended = [periodNo: number, characters: number, priceMicro: number];

export class Expiry {
  readonly #books: Books;
  readonly #expire: StatementSync;
  readonly #nextEnd: StatementSync;
  readonly #createdAt: StatementSync;
  readonly #addPeriod: StatementSync;
  readonly #enterPeriod: StatementSync;

  constructor(database: DatabaseSync, books: Books) {
    this.#books = books;
    this.#expire = database.prepare(`UPDATE operations SET state = ${EXPIRED}, until_ms = until_ms + ${REMEMBER_MS}
      WHERE (request_id, team) IN
        (SELECT request_id, team FROM operations WHERE team = ? AND state = ${OPEN} AND until_ms <= ? ORDER BY until_ms LIMIT ?)
      RETURNING period_no, characters, price_micro`);
    this.#expire.setReturnArrays(true);
    this.#nextEnd = database.prepare(`SELECT min(until_ms) FROM operations WHERE team = ? AND state = ${OPEN}`);
    this.#nextEnd.setReturnArrays(true);
    this.#createdAt = database.prepare('SELECT created_at_ms FROM teams WHERE no = ?');
    this.#createdAt.setReturnArrays(true);
    this.#addPeriod = database.prepare('INSERT INTO periods (team, no, start_ms, end_ms) VALUES (?, ?, ?, ?)');
    this.#enterPeriod = database.prepare('UPDATE books SET period_no = ? WHERE team = ?');
  }

  /** Brings a team up to this moment; to be called before its counts are read or changed. */
  run(team: TeamBooks, nowMs: number): void {
    if (nowMs >= team.leaseDueMs) this.endLeases(team, nowMs, ALL);
    if (nowMs >= team.counts.periodEndMs) this.startPeriod(team, nowMs);
  }

  /** Releases what ended leases hold: `rowsMax` of them, the longest ended first. */
  endLeases(team: TeamBooks, nowMs: number, rowsMax: number): void {
    for (const [periodNo, characters, priceMicro] of this.#expire.all(team.no, nowMs, rowsMax) as unknown as Ended[]) {
      team.counts.heldMicro -= priceMicro;
      // What was held in an ended period is no longer in the counters.
      if (periodNo === team.counts.periodNo) team.counts.heldCharacters -= characters;
      this.#books.touch(team);
    }
    // Some of these have ended: from now on they are looked up in the file.
    team.held.clear();
    const [nextMs] = this.#nextEnd.get(team.no) as unknown as [number | null];
    team.leaseDueMs = nextMs ?? Infinity;
  }

  /** Counts from zero in the period that holds now. Open reservations stay in the one they were made in. */
  startPeriod(team: TeamBooks, nowMs: number): void {
    const { period } = team.limits;
    const duration = parseDuration(period);
    if (duration === undefined) throw new Error(`team ${team.no} has no valid period: ${period}`);
    const [createdAtMs] = this.#createdAt.get(team.no) as unknown as [number];
    const { startMs, endMs } = periodAt(createdAtMs, duration, nowMs);
    const periodNo = team.counts.periodNo + 1;
    this.#addPeriod.run(team.no, periodNo, startMs, endMs);
    this.#enterPeriod.run(periodNo, team.no);
    Object.assign(team.counts, { periodNo, periodEndMs: endMs, usedCharacters: 0, heldCharacters: 0 });
    this.#books.touch(team);
  }
}
