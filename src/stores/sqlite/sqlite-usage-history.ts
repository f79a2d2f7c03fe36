// The usage history as rows of the file: days are read beside the ledger without its lock, periods as an operation of its own.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY_MS, dayOf } from '../../domain/period.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyRecord, TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodUse, TeamDays, UsageHistory } from '../../ports/usage-history.ts';
import type { KeyRows } from './key-rows.ts';
import { RegistryWork } from './registry-work.ts';
import type { RegistryWorkParts } from './registry-work.ts';
import { databaseFaultOf, unavailable } from './store-fault.ts';
import { TeamPages } from './team-pages.ts';
import { TeamRows } from './team-rows.ts';

export interface UsageHistoryParts extends RegistryWorkParts {
  readonly database: DatabaseSync;
  readonly path: string;
  readonly keys: KeyRows;
  readonly historyDays: number;
}

/** For so long a page keeps the event loop at a time. */
const READ_MS_MAX = 4;

type DayRow = [day: number, key: number, characters: number, requests: number];
type PeriodRow = [no: number, startMs: number, endMs: number, plan: string, limits: string, closed: number | null, running: number];

export class SqliteUsageHistory implements UsageHistory {
  readonly #parts: UsageHistoryParts;
  readonly #work: RegistryWork;
  readonly #teams: TeamRows;
  readonly #pages: TeamPages;
  readonly #kept: StatementSync;
  readonly #counted: StatementSync;
  readonly #periods: StatementSync;
  readonly #charged: StatementSync;

  constructor(parts: UsageHistoryParts) {
    this.#parts = parts;
    this.#work = new RegistryWork(parts);
    this.#teams = new TeamRows(parts.database, 'teams and what deleted ones have left');
    this.#pages = new TeamPages(this.#work, this.#teams);
    const arrays = (sql: string) => {
      const statement = parts.database.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#kept = arrays('SELECT day, key, characters, requests FROM usage_days WHERE team = ? AND day BETWEEN ? AND ? ORDER BY day, key');
    this.#counted = arrays(`SELECT b.day, u.key, u.day_characters, u.day_requests FROM books b JOIN key_books u ON u.team = b.team
      WHERE b.team = ? AND b.day BETWEEN ? AND ? AND u.day_requests > 0 ORDER BY u.key`);
    // Of a period that was left before plans were written down with it, nobody knows the limits.
    this.#periods =
      arrays(`SELECT p.no, p.start_ms, coalesce(p.left_ms, p.end_ms), p.plan, p.limits, p.closed_characters, coalesce(p.no = b.period_no, 0)
      FROM periods p LEFT JOIN books b ON b.team = p.team
      WHERE p.team = ? AND (p.left_ms >= ? OR p.no = b.period_no) ORDER BY p.no DESC`);
    this.#charged = arrays(`SELECT (SELECT coalesce(sum(characters), 0) FROM usage WHERE team = $team AND period_no = $no)
      + (SELECT coalesce(sum(characters), 0) FROM key_books WHERE team = $team AND period_no = $no)`);
  }

  async days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    // As an operation in its turn: what was committed before is in the file then.
    const no = await this.#work.run(`team ${teamId}`, () => this.#teams.number(teamId));
    if (no === undefined || isUnavailable(no)) return no;
    const found = await this.#read([no], range);
    return isUnavailable(found) ? found : found[0];
  }

  async pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const full: TeamDays[] = [];
    for (let { after } = page; ;) {
      const wanted = page.limit - full.length;
      const teams = await this.#pages.read({ ...page, after, limit: wanted }, (no) => ({ no, id: this.#teams.find(no)?.team.teamId }));
      if (isUnavailable(teams)) return teams;
      const numbers = teams.map(({ no }) => no);
      const found = await this.#read(numbers, range);
      if (isUnavailable(found)) return found;
      full.push(...found);
      if (teams.length < wanted || full.length === page.limit) return full;
      after = teams.at(-1)?.id;
    }
  }

  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    return this.#work.run(`team ${teamId}`, (nowMs) => {
      const { books, periods, historyDays } = this.#parts;
      this.#work.current(teamId, nowMs);
      const team = books.team(teamId);
      // A deleted team has left closed ones only.
      if (team !== undefined) periods.closeAll(team, nowMs);
      const no = this.#teams.number(teamId);
      if (no === undefined) return undefined;
      const rows = this.#periods.all(no, nowMs - historyDays * DAY_MS) as unknown as PeriodRow[];
      return rows.map((row) => this.#periodOf(no, row));
    });
  }

  #periodOf(team: number, [number, startMs, endMs, plan, limits, closed, isRunning]: PeriodRow): PeriodUse {
    if (isRunning === 1) {
      const { team: held, usedCharacters } = this.#teams.get(team);
      return { number, startMs, endMs, closed: false, plan: held.plan, limits: held.limits, characters: usedCharacters };
    }
    const characters = closed ?? (this.#charged.get({ $team: team, $no: number }) as unknown as [number])[0];
    return { number, startMs, endMs, closed: closed !== null, plan, limits: JSON.parse(limits) as TeamLimits, characters };
  }
  /** Each team as it stood at one moment. Readers wait for no writer, and none for them. */
  async #read(numbers: readonly number[], range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const { database, path, clock, historyDays } = this.#parts;
    const { to } = range;
    const from = Math.max(range.from, dayOf(clock.nowMs()) - historyDays);
    const found: TeamDays[] = [];
    try {
      let untilMs = performance.now() + READ_MS_MAX;
      for (const no of numbers) {
        database.exec('BEGIN');
        const days = this.#daysOf(no, from, to);
        if (days !== undefined) found.push(days);
        database.exec('COMMIT');
        if (performance.now() < untilMs) continue;
        await nextTurn();
        untilMs = performance.now() + READ_MS_MAX;
      }
      return found;
    } catch (error) {
      if (database.isOpen && database.isTransaction) database.exec('ROLLBACK');
      const cause = databaseFaultOf(error);
      if (cause === undefined) throw error;
      return unavailable(path, cause);
    }
  }

  #daysOf(team: number, from: number, to: number): TeamDays | undefined {
    const row = this.#teams.find(team);
    if (row === undefined) return undefined;
    const kept = this.#kept.all(team, from, to) as unknown as DayRow[];
    const counted = this.#counted.all(team, from, to) as unknown as DayRow[];
    const rows = counted.length === 0 ? kept : together(kept, counted);
    const ids = new Map<number, string>();
    const keys: KeyRecord[] = [];
    if (rows.length > 0) {
      const used = new Set(rows.map(([, key]) => key));
      for (const [no, record] of this.#parts.keys.numbered(team)) {
        if (!used.has(no)) continue;
        ids.set(no, record.keyId);
        keys.push(record);
      }
    }
    const days = rows.map(([day, key, characters, requests]): KeyDay => ({ day, keyId: ids.get(key)!, characters, requests }));
    return { team: row.team, keys, days };
  }
}

/** The running day may have rows of its own already, where the clock has stepped back to it. */
function together(kept: readonly DayRow[], counted: readonly DayRow[]): DayRow[] {
  const rows = kept.map((row): DayRow => [...row]);
  for (const row of counted) {
    const same = rows.findLast(([day, key]) => day === row[0] && key === row[1]);
    if (same === undefined) {
      rows.push(row);
      continue;
    }
    same[2] += row[2];
    same[3] += row[3];
  }
  return rows.toSorted(([day, key], [otherDay, otherKey]) => day - otherDay || key - otherKey);
}
