// What changes in a team's counts by time alone: leases end, and a new period begins.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parseDuration, periodAt } from '../../domain/period.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Books } from './books.ts';
import { EXPIRED, LIMITS, OPEN } from './sqlite-schema.ts';
import type { TeamBooks } from './team-books.ts';

const ALL = -1;
/** A team's limits as one JSON object, by their names. */
const LIMITS_JSON = `json_object(${Object.entries(LIMITS)
  .map(([name, column]) => `'${name}', t.${column}`)
  .join(', ')})`;

type Ended = [periodNo: number, characters: number, priceMicro: number];

export class Expiry {
  readonly #books: Books;
  readonly #expire: StatementSync;
  readonly #nextEnd: StatementSync;
  readonly #anchor: StatementSync;
  readonly #leave: StatementSync;
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
    this.#anchor = database.prepare(`SELECT coalesce(p.anchor_ms, t.created_at_ms) FROM teams t
      LEFT JOIN periods p ON p.team = t.no AND p.no = ? WHERE t.no = ?`);
    this.#anchor.setReturnArrays(true);
    this.#leave = database.prepare(`UPDATE periods SET (left_ms, plan, limits) =
        (SELECT max(periods.start_ms, min(periods.end_ms, ?)), t.plan, ${LIMITS_JSON} FROM teams t WHERE t.no = periods.team)
      WHERE team = ? AND no = ? AND left_ms IS NULL`);
    this.#addPeriod = database.prepare('INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms) VALUES (?, ?, ?, ?, ?)');
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

  /** Notes until when the team's period held, and under which plan; to be called before the plan is changed. */
  leavePeriod(team: number, periodNo: number, nowMs: number): void {
    this.#leave.run(nowMs, team, periodNo);
  }

  /**
   * Counts from zero in the period that holds now. Open reservations stay in the one they were made in. Periods are counted
   * from `fromMs`, where it is given; else from where the one before was.
   */
  startPeriod(team: TeamBooks, nowMs: number, fromMs?: number): void {
    const { period } = team.limits;
    const duration = parseDuration(period);
    if (duration === undefined) throw new Error(`team ${team.no} has no valid period: ${period}`);
    const before = team.counts.periodNo;
    const [anchorMs] = fromMs === undefined ? (this.#anchor.get(before, team.no) as unknown as [number]) : [fromMs];
    const { startMs, endMs } = periodAt(anchorMs, duration, nowMs);
    const periodNo = before + 1;
    this.leavePeriod(team.no, before, nowMs);
    this.#addPeriod.run(team.no, periodNo, startMs, endMs, anchorMs);
    this.#enterPeriod.run(periodNo, team.no);
    Object.assign(team.counts, { periodNo, periodEndMs: endMs, usedCharacters: 0, heldCharacters: 0 });
    this.#books.touch(team);
  }
}
