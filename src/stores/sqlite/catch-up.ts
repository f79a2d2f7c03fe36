// What time alone does to a team's books: leases end, a period is followed by the next.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parseDuration, periodAt } from '../../domain/period.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import { EXPIRED, OPEN } from './schema.ts';

/**
 * What every operation reads of its team first: its number, when its period ends, and whether a lease of it has ended
 * that still is open in the books. Takes `now` as its one parameter.
 */
export const DUE_COLUMNS = `t.no, t.period_end_ms,
  EXISTS (SELECT 1 FROM operations WHERE team = t.no AND state = ${OPEN} AND until_ms <= ?)`;

export type DueColumns = [team: number, periodEndMs: number, leaseEnded: 0 | 1];

const ALL = -1;

export class CatchUp {
  readonly #due: StatementSync;
  readonly #expire: StatementSync;
  readonly #giveBack: StatementSync;
  readonly #periodOf: StatementSync;
  readonly #addPeriod: StatementSync;
  readonly #enterPeriod: StatementSync;

  constructor(database: DatabaseSync) {
    this.#due = database.prepare(`SELECT ${DUE_COLUMNS} FROM teams t WHERE t.team_id = ?`);
    this.#due.setReturnArrays(true);
    this.#expire = database.prepare(`UPDATE operations SET state = ${EXPIRED}, until_ms = until_ms + ${REMEMBER_MS}
      WHERE (request_id, team) IN
        (SELECT request_id, team FROM operations WHERE team = ? AND state = ${OPEN} AND until_ms <= ? ORDER BY until_ms LIMIT ?)
      RETURNING period_no, characters, price_micro`);
    this.#expire.setReturnArrays(true);
    this.#giveBack = database.prepare(`UPDATE teams SET held_micro = held_micro - ?,
      held_characters = held_characters - iif(period_no = ?, ?, 0) WHERE no = ?`);
    this.#periodOf = database.prepare('SELECT created_at_ms, period, period_no FROM teams WHERE no = ?');
    this.#periodOf.setReturnArrays(true);
    this.#addPeriod = database.prepare('INSERT INTO periods (team, no, start_ms, end_ms) VALUES (?, ?, ?, ?)');
    this.#enterPeriod = database.prepare(`UPDATE teams SET period_no = ?, period_end_ms = ?, used_characters = 0, held_characters = 0
      WHERE no = ?`);
  }

  /** The number of a team that has caught up, `undefined` when there is none of this id. */
  find(teamId: string, nowMs: number): number | undefined {
    const due = this.#due.get(nowMs, teamId) as unknown as DueColumns | undefined;
    if (due === undefined) return undefined;
    this.run(due, nowMs);
    return due[0];
  }

  /** Whether the team's numbers have changed, so that whoever has read them must read again. */
  run([team, periodEndMs, leaseEnded]: Readonly<DueColumns>, nowMs: number): boolean {
    if (leaseEnded === 1) this.endLeases(team, nowMs, ALL);
    if (nowMs >= periodEndMs) this.startPeriod(team, nowMs);
    return leaseEnded === 1 || nowMs >= periodEndMs;
  }

  /** Releases what ended leases hold: `rowsMax` of them, the longest ended first. */
  endLeases(team: number, nowMs: number, rowsMax: number): void {
    const ended = this.#expire.all(team, nowMs, rowsMax) as unknown as [periodNo: number, characters: number, priceMicro: number][];
    for (const [periodNo, characters, priceMicro] of ended) this.#giveBack.run(priceMicro, periodNo, characters, team);
  }

  /** Counts from zero in the period that holds now. Open reservations stay in the one they were made in. */
  startPeriod(team: number, nowMs: number): void {
    const [createdAtMs, text, number] = this.#periodOf.get(team) as unknown as [number, string, number];
    const duration = parseDuration(text);
    if (duration === undefined) throw new Error(`team ${team} has no valid period: ${text}`);
    const { startMs, endMs } = periodAt(createdAtMs, duration, nowMs);
    this.#addPeriod.run(team, number + 1, startMs, endMs);
    this.#enterPeriod.run(number + 1, endMs, team);
  }
}
