// A team's periods and days as rows: transitions to the next one, and closing a period once none of its reservations is open.
import type { DatabaseSync } from 'node:sqlite';
import type { Micro } from '../../domain/money.ts';
import { dayOf } from '../../domain/period.ts';
import { periodBy } from '../../domain/period-rule.ts';
import type { Books } from './books.ts';
import { LIMITS, OPEN } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { KeyBooks, TeamBooks } from './team-books.ts';

/** Callbacks within the ledger's transaction: rows that they write are committed or rolled back with it. */
export interface HistoryHooks {
  /** A charge was added to the team's counts of its current period. Called for every commit, so it should only compare numbers. */
  charged(team: TeamBooks, priceMicro: Micro, nowMs: number): void;
  /**
   * A day of the team has ended and been written to `usage_days`, with everything committed in it. If the clock has stepped
   * back since, more may be added, and the day is reported again when that ends.
   */
  dayFinished(team: TeamBooks, day: number, nowMs: number): void;
  /** The period is final, with all its data in its row in `periods`. Not called for a period without usage. */
  periodClosed(team: TeamBooks, periodNo: number, nowMs: number): void;
}

const nothing = (): void => undefined;
export const NO_HOOKS: HistoryHooks = { charged: nothing, dayFinished: nothing, periodClosed: nothing };

/** A team's limits as one JSON object. */
const LIMITS_JSON = `json_object(${Object.entries(LIMITS)
  .map(([name, column]) => `'${name}', t.${column}`)
  .join(', ')})`;
/** Adds to an existing row: for late charges to a period, and days that are counted again after the clock stepped back. */
export const ADDED = 'DO UPDATE SET characters = characters + excluded.characters, requests = requests + excluded.requests';

const SQL = {
  anchor: tuples<[number]>(`SELECT coalesce(p.anchor_ms, t.created_at_ms) FROM teams t
    LEFT JOIN periods p ON p.team = t.no AND p.no = ? WHERE t.no = ?`),
  leave: `UPDATE periods SET (left_ms, plan, limits) =
      (SELECT max(periods.start_ms, min(periods.end_ms, ?)), t.plan, ${LIMITS_JSON} FROM teams t WHERE t.no = periods.team)
    WHERE team = ? AND no = ? AND left_ms IS NULL`,
  add: 'INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms) VALUES (?, ?, ?, ?, ?)',
  enter: 'UPDATE books SET period_no = ?, period_end_ms = ? WHERE team = ?',
  unclosed: tuples<[no: number]>('SELECT no FROM periods WHERE team = ? AND left_ms IS NOT NULL AND closed_characters IS NULL ORDER BY no'),
  open: `SELECT 1 FROM operations WHERE team = ? AND state = ${OPEN} AND period_no = ? LIMIT 1`,
  keep: `INSERT INTO usage (team, period_no, key, characters, requests)
    SELECT team, period_no, key, characters, requests FROM key_books WHERE team = ? AND period_no = ? AND requests > 0
    ON CONFLICT (team, period_no, key) ${ADDED}`,
  reset: 'UPDATE key_books SET characters = 0, requests = 0 WHERE team = ? AND period_no = ?',
  close: tuples<[characters: number | null]>(`UPDATE periods SET closed_characters =
      (SELECT nullif(sum(characters), 0) FROM usage u WHERE u.team = periods.team AND u.period_no = periods.no)
    WHERE team = ? AND no = ? AND left_ms IS NOT NULL AND closed_characters IS NULL RETURNING closed_characters`),
  removeUsage: 'DELETE FROM usage WHERE team = ? AND period_no = ?',
  remove: 'DELETE FROM periods WHERE team = ? AND no = ?',
};

export class Periods {
  readonly #books: Books;
  readonly #hooks: HistoryHooks;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, books: Books, hooks: HistoryHooks) {
    this.#books = books;
    this.#hooks = hooks;
    this.#sql = prepared(database, SQL);
  }

  /** Records when the team's period ended and under which plan. Call it before the plan is changed. */
  leave(team: number, periodNo: number, nowMs: number): void {
    this.#sql.leave.run(nowMs, team, periodNo);
  }

  /**
   * Begins the current period with counts of zero. Open reservations stay in the period they were made in. Periods are counted
   * from `fromMs` if given, otherwise from the previous anchor, or by the calendar.
   */
  start(team: TeamBooks, nowMs: number, fromMs?: number): void {
    const before = team.counts.periodNo;
    const [anchorMs] = fromMs === undefined ? this.#sql.anchor.get(before, team.no)! : [fromMs];
    const period = periodBy(team.limits.period, anchorMs, nowMs);
    const { endMs } = period;
    // A calendar period may have begun before the end of the team's last one, if that was counted differently.
    const startMs = Math.max(period.startMs, fromMs ?? team.counts.periodEndMs);
    const periodNo = before + 1;
    this.leave(team.no, before, nowMs);
    this.#sql.add.run(team.no, periodNo, startMs, endMs, anchorMs);
    this.#sql.enter.run(periodNo, endMs, team.no);
    Object.assign(team.counts, { periodNo, periodEndMs: endMs, usedCharacters: 0, heldCharacters: 0 });
    this.#books.touch(team);
    if (before > 0) this.close(team, before, nowMs);
  }

  /** Closes the team's past periods that have no open reservations. */
  closeAll(team: TeamBooks, nowMs: number): void {
    for (const [periodNo] of this.#sql.unclosed.all(team.no)) this.close(team, periodNo, nowMs);
  }

  /** Whether any reservation made in it is open. */
  isOpen(team: number, periodNo: number): boolean {
    return this.#sql.open.get(team, periodNo) !== undefined;
  }

  /**
   * Records the total of a past period, unless a reservation of it is open. A period without characters is deleted, because
   * idle teams with short periods would otherwise fill the file.
   */
  close(team: TeamBooks, periodNo: number, nowMs: number): void {
    if (this.isOpen(team.no, periodNo)) return;
    this.#books.flush();
    this.#sql.keep.run(team.no, periodNo);
    this.#sql.reset.run(team.no, periodNo);
    for (const { counts } of team.keys.values()) {
      if (counts.periodNo === periodNo) Object.assign(counts, { characters: 0, requests: 0 });
    }
    const closed = this.#sql.close.get(team.no, periodNo);
    // Another process was faster.
    if (closed === undefined) return;
    if (closed[0] !== null) return this.#hooks.periodClosed(team, periodNo, nowMs);
    this.#sql.removeUsage.run(team.no, periodNo);
    this.#sql.remove.run(team.no, periodNo);
  }
}

/** No day is being counted. */
const NONE = 0;

const DAY_SQL = {
  keep: `INSERT INTO usage_days (team, day, key, characters, requests)
    SELECT team, ?, key, day_characters, day_requests FROM key_books WHERE team = ? AND day_requests > 0
    ON CONFLICT (team, day, key) ${ADDED}`,
  reset: 'UPDATE key_books SET day_characters = 0, day_requests = 0 WHERE team = ? AND day_requests > 0',
  enter: 'UPDATE books SET day = ? WHERE team = ?',
};

/** Charges by UTC day: the current day is kept in the keys' own rows, which a commit writes anyway; past days have their own rows. */
export class DayCounts {
  readonly #books: Books;
  readonly #hooks: HistoryHooks;
  readonly #sql: Statements<typeof DAY_SQL>;

  constructor(database: DatabaseSync, books: Books, hooks: HistoryHooks) {
    this.#books = books;
    this.#hooks = hooks;
    this.#sql = prepared(database, DAY_SQL);
  }

  /** Counts a charge. The caller must have the key's row written. */
  count({ team, counts }: KeyBooks, characters: number, nowMs: number): void {
    const day = dayOf(nowMs);
    if (day !== team.counts.day) this.#turn(team, day, nowMs);
    counts.dayCharacters += characters;
    counts.dayRequests++;
  }

  /** Saves a team's day if it has ended. */
  finish(team: TeamBooks, nowMs: number): void {
    const { day } = team.counts;
    if (day !== NONE && day < dayOf(nowMs)) this.#turn(team, NONE, nowMs);
  }

  /** Saves a team's day even if it has not ended, because the team is deleted but its usage is kept. */
  leave(team: TeamBooks, nowMs: number): void {
    if (team.counts.day !== NONE) this.#turn(team, NONE, nowMs);
  }

  /** Moves to the next day, or after a clock step to an earlier one, without losing any counts. */
  #turn(team: TeamBooks, day: number, nowMs: number): void {
    const before = team.counts.day;
    if (before !== NONE) {
      this.#books.flush();
      this.#sql.keep.run(before, team.no);
      this.#sql.reset.run(team.no);
      for (const { counts } of team.keys.values()) Object.assign(counts, { dayCharacters: 0, dayRequests: 0 });
    }
    this.#sql.enter.run(day, team.no);
    team.counts.day = day;
    if (before !== NONE && before < dayOf(nowMs)) this.#hooks.dayFinished(team, before, nowMs);
  }
}
