// The janitor's part for the usage history: ends days and periods of idle teams, and deletes what exceeds the retention.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { StoreParts } from './store-parts.ts';
import { TagChores } from './tag-chores.ts';
import { ERASE_USELESS } from './team-erasure.ts';

/** Teams of each kind per batch: takes a few milliseconds while callers wait. */
const TEAMS_MAX = 48;
/** Teams whose oldest rows are checked per batch, and rows deleted per batch. */
const LOOKED_AT_MAX = 500;
const ROWS_MAX = 1000;

type Parts = Pick<StoreParts, 'database' | 'accounts' | 'periods' | 'historyDays'>;
type Unclosed = [team: number, periodNo: number, teamId: string];

const NAMED = 'SELECT t.team_id FROM books b JOIN teams t ON t.no = b.team WHERE';

const SQL = {
  daysOver: tuples<[teamId: string]>(`${NAMED} b.day > 0 AND b.day < ? LIMIT ${TEAMS_MAX}`),
  periodsOver: tuples<[teamId: string]>(`${NAMED} b.period_end_ms <= ? ORDER BY b.period_end_ms LIMIT ${TEAMS_MAX}`),
  unclosed: tuples<Unclosed>(`SELECT p.team, p.no, t.team_id FROM periods p JOIN teams t ON t.no = p.team
    WHERE p.left_ms IS NOT NULL AND p.closed_characters IS NULL AND (p.team, p.no) > (?, ?) ORDER BY p.team, p.no LIMIT ${TEAMS_MAX}`),
  lastOf: tuples<[number | null]>(`SELECT max(no) FROM (SELECT no FROM teams WHERE no > ? ORDER BY no LIMIT ${LOOKED_AT_MAX})`),
  // Two lookups per team: its first day and its first period.
  old: tuples<[team: number]>(`SELECT t.no FROM teams t LEFT JOIN books b ON b.team = t.no WHERE t.no > $after AND t.no <= $last AND (
      (SELECT d.day FROM usage_days d WHERE d.team = t.no ORDER BY d.day LIMIT 1) < $day
      OR (SELECT p.no < coalesce(b.period_no, p.no + 1) AND coalesce(p.left_ms, p.end_ms) < $endMs FROM periods p WHERE p.team = t.no ORDER BY p.no LIMIT 1)
    ) ORDER BY t.no LIMIT 1`),
  dropDays: `DELETE FROM usage_days WHERE (team, day, key) IN
    (SELECT team, day, key FROM usage_days WHERE team = ? AND day < ? ORDER BY day, key LIMIT ${ROWS_MAX})`,
  oldPeriods: tuples<[no: number]>(`SELECT p.no FROM periods p LEFT JOIN books b ON b.team = p.team
    WHERE p.team = ? AND p.no < coalesce(b.period_no, p.no + 1) AND coalesce(p.left_ms, p.end_ms) < ? ORDER BY p.no LIMIT ${ROWS_MAX}`),
  dropUsage: 'DELETE FROM usage WHERE team = ? AND period_no = ?',
  dropPeriod: 'DELETE FROM periods WHERE team = ? AND no = ?',
  eraseUseless: ERASE_USELESS,
};

interface Due {
  readonly teamIds: readonly string[];
  readonly closable: readonly Unclosed[];
  readonly old: number | undefined;
  readonly hasOldTags: boolean;
}

export class HistoryChores {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  readonly #tags: TagChores;
  /** The result of the last look. */
  #due: Due = { teamIds: [], closable: [], old: undefined, hasOldTags: false };
  /** Whether the next batch should follow soon. To be read only. */
  hasMore = false;
  /** The last unclosed period that was checked. */
  #cursor: readonly [team: number, periodNo: number] = [0, 0];
  /** The day for which old rows are searched, and the last team without any. */
  #pass = { day: 0, after: 0, isDone: false };

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
    this.#tags = new TagChores(parts.database, parts.historyDays);
  }

  /** Whether there is anything to do; only reads. */
  look(nowMs: number): boolean {
    const today = dayOf(nowMs);
    const daysOver = this.#sql.daysOver.all(today);
    const periodsOver = this.#sql.periodsOver.all(nowMs);
    const unclosed = this.#nextUnclosed();
    const old = this.#nextOld(nowMs);
    const closable = unclosed.filter(([team, periodNo]) => !this.#parts.periods.isOpen(team, periodNo));
    const teamIds = [...new Set([...daysOver, ...periodsOver].map(([teamId]) => teamId))];
    const hasOldTags = this.#tags.look(nowMs);
    this.#due = { teamIds, closable, old, hasOldTags };
    this.hasMore = old !== undefined || this.#tags.hasMore || [daysOver, periodsOver, unclosed].some(({ length }) => length === TEAMS_MAX);
    return teamIds.length > 0 || closable.length > 0 || old !== undefined || hasOldTags;
  }

  /** Processes what was found, unless another process already has. Call it within a transaction. */
  run(nowMs: number): void {
    const { accounts, periods } = this.#parts;
    const { teamIds, closable, old, hasOldTags } = this.#due;
    for (const teamId of teamIds) {
      const team = accounts.team(teamId);
      if (team === undefined) continue;
      periods.update(team, nowMs);
      periods.finishDay(team, nowMs);
    }
    for (const [, periodNo, teamId] of closable) {
      const team = accounts.team(teamId);
      if (team !== undefined) periods.close(team, periodNo, nowMs);
    }
    if (old !== undefined) this.#drop(old, nowMs);
    if (hasOldTags) this.#tags.run(nowMs);
  }

  #nextUnclosed(): readonly Unclosed[] {
    const found = this.#sql.unclosed.all(...this.#cursor);
    const last = found.length < TEAMS_MAX ? undefined : found.at(-1);
    this.#cursor = last === undefined ? [0, 0] : [last[0], last[1]];
    return found;
  }

  /** The next team with rows beyond the retention. All teams are scanned once a day. */
  #nextOld(nowMs: number): number | undefined {
    const today = dayOf(nowMs);
    if (this.#pass.day !== today) this.#pass = { day: today, after: 0, isDone: false };
    if (this.#pass.isDone) return undefined;
    const { after } = this.#pass;
    const [last] = this.#sql.lastOf.get(after)!;
    this.#pass.isDone = last === null;
    const bounds = { $after: after, $last: last, $day: today - this.#parts.historyDays, $endMs: this.#keptFromMs(nowMs) };
    const found = last === null ? undefined : this.#sql.old.get(bounds)?.[0];
    // Checked again until it has no old rows left.
    this.#pass.after = found === undefined ? (last ?? after) : found - 1;
    return found;
  }

  #drop(team: number, nowMs: number): void {
    this.#sql.dropDays.run(team, dayOf(nowMs) - this.#parts.historyDays);
    for (const [no] of this.#sql.oldPeriods.all(team, this.#keptFromMs(nowMs))) {
      this.#sql.dropUsage.run(team, no);
      this.#sql.dropPeriod.run(team, no);
    }
    this.#sql.eraseUseless.run(team);
  }

  #keptFromMs(nowMs: number): number {
    return nowMs - this.#parts.historyDays * DAY_MS;
  }
}
