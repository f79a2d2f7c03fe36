// A team's periods as rows: how one is left for the next, and closed when nothing that was reserved in it is open any more.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { periodBy } from '../../domain/period-rule.ts';
import type { Books } from './books.ts';
import type { HistoryHooks } from './history-hooks.ts';
import { LIMITS, OPEN } from './sqlite-schema.ts';
import type { TeamBooks } from './team-books.ts';

/** A team's limits as one JSON object, by their names. */
const LIMITS_JSON = `json_object(${Object.entries(LIMITS)
  .map(([name, column]) => `'${name}', t.${column}`)
  .join(', ')})`;

export class Periods {
  readonly #books: Books;
  readonly #hooks: HistoryHooks;
  readonly #anchor: StatementSync;
  readonly #leave: StatementSync;
  readonly #add: StatementSync;
  readonly #enter: StatementSync;
  readonly #unclosed: StatementSync;
  readonly #open: StatementSync;
  readonly #keep: StatementSync;
  readonly #reset: StatementSync;
  readonly #close: StatementSync;
  readonly #removeUsage: StatementSync;
  readonly #remove: StatementSync;

  constructor(database: DatabaseSync, books: Books, hooks: HistoryHooks) {
    this.#books = books;
    this.#hooks = hooks;
    const arrays = (sql: string) => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#anchor = arrays(`SELECT coalesce(p.anchor_ms, t.created_at_ms) FROM teams t
      LEFT JOIN periods p ON p.team = t.no AND p.no = ? WHERE t.no = ?`);
    this.#leave = database.prepare(`UPDATE periods SET (left_ms, plan, limits) =
        (SELECT max(periods.start_ms, min(periods.end_ms, ?)), t.plan, ${LIMITS_JSON} FROM teams t WHERE t.no = periods.team)
      WHERE team = ? AND no = ? AND left_ms IS NULL`);
    this.#add = database.prepare('INSERT INTO periods (team, no, start_ms, end_ms, anchor_ms) VALUES (?, ?, ?, ?, ?)');
    this.#enter = database.prepare('UPDATE books SET period_no = ?, period_end_ms = ? WHERE team = ?');
    this.#unclosed = arrays('SELECT no FROM periods WHERE team = ? AND left_ms IS NOT NULL AND closed_characters IS NULL ORDER BY no');
    this.#open = database.prepare(`SELECT 1 FROM operations WHERE team = ? AND state = ${OPEN} AND period_no = ? LIMIT 1`);
    this.#keep = database.prepare(`INSERT INTO usage (team, period_no, key, characters, requests)
      SELECT team, period_no, key, characters, requests FROM key_books WHERE team = ? AND period_no = ? AND requests > 0
      ON CONFLICT (team, period_no, key) DO UPDATE SET characters = characters + excluded.characters, requests = requests + excluded.requests`);
    this.#reset = database.prepare('UPDATE key_books SET characters = 0, requests = 0 WHERE team = ? AND period_no = ?');
    this.#close = arrays(`UPDATE periods SET closed_characters =
        (SELECT nullif(sum(characters), 0) FROM usage u WHERE u.team = periods.team AND u.period_no = periods.no)
      WHERE team = ? AND no = ? AND left_ms IS NOT NULL AND closed_characters IS NULL RETURNING closed_characters`);
    this.#removeUsage = database.prepare('DELETE FROM usage WHERE team = ? AND period_no = ?');
    this.#remove = database.prepare('DELETE FROM periods WHERE team = ? AND no = ?');
  }

  /** Notes until when the team's period held, and under which plan; to be called before the plan is changed. */
  leave(team: number, periodNo: number, nowMs: number): void {
    this.#leave.run(nowMs, team, periodNo);
  }

  /**
   * Counts from zero in the period that holds now. Open reservations stay in the one they were made in. Periods are counted
   * from `fromMs`, where it is given; else from where the one before was; or by the calendar.
   */
  start(team: TeamBooks, nowMs: number, fromMs?: number): void {
    const before = team.counts.periodNo;
    const [anchorMs] = fromMs === undefined ? (this.#anchor.get(before, team.no) as unknown as [number]) : [fromMs];
    const period = periodBy(team.limits.period, anchorMs, nowMs);
    const { endMs } = period;
    // By the calendar it may have begun before the team's ended, if that one was still counted otherwise.
    const startMs = Math.max(period.startMs, fromMs ?? team.counts.periodEndMs);
    const periodNo = before + 1;
    this.leave(team.no, before, nowMs);
    this.#add.run(team.no, periodNo, startMs, endMs, anchorMs);
    this.#enter.run(periodNo, endMs, team.no);
    Object.assign(team.counts, { periodNo, periodEndMs: endMs, usedCharacters: 0, heldCharacters: 0 });
    this.#books.touch(team);
    if (before > 0) this.close(team, before, nowMs);
  }

  /** Closes those of a team that have been left, as far as nothing is open in them. */
  closeAll(team: TeamBooks, nowMs: number): void {
    const rows = this.#unclosed.all(team.no) as unknown as [no: number][];
    for (const [periodNo] of rows) this.close(team, periodNo, nowMs);
  }

  /** Whether a reservation that was made in it is open. */
  isOpen(team: number, periodNo: number): boolean {
    return this.#open.get(team, periodNo) !== undefined;
  }

  /**
   * Writes down what a period came to that has been left, unless something is open in it; one that came to no characters is
   * forgotten, or idle teams with short periods would fill the file.
   */
  close(team: TeamBooks, periodNo: number, nowMs: number): void {
    if (this.isOpen(team.no, periodNo)) return;
    this.#books.flush();
    this.#keep.run(team.no, periodNo);
    this.#reset.run(team.no, periodNo);
    for (const { counts } of team.keys.values()) {
      if (counts.periodNo === periodNo) Object.assign(counts, { characters: 0, requests: 0 });
    }
    const closed = this.#close.get(team.no, periodNo) as unknown as [characters: number | null] | undefined;
    // Another process has been faster.
    if (closed === undefined) return;
    if (closed[0] !== null) return this.#hooks.periodClosed(team, periodNo, nowMs);
    this.#removeUsage.run(team.no, periodNo);
    this.#remove.run(team.no, periodNo);
  }
}
