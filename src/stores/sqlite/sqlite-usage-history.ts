// The usage history as rows: days are read without the ledger's lock, periods in an operation of their own; and a team's usage
// in one period, for reports and events.
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { NO_WINDOWS } from '../../domain/window-limits.ts';
import type { WindowSubject } from '../../domain/window-limits.ts';
import { withWindowUses } from '../../ledger/counter.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyRecord, TeamPage, Usage } from '../../ports/team-registry.ts';
import { isInSpan } from '../../domain/period-span.ts';
import type { DayRange, KeyDay, PeriodSpan, PeriodUse, TeamDays, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { storedCounts } from './accounts.ts';
import type { KeyRows } from './key-rows.ts';
import { OF_TESTS } from './periods.ts';
import { TeamPages } from './registry-work.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { answerTo } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';
import { TeamRows } from './team-rows.ts';
import type { TeamRow } from './team-rows.ts';

/** How long a reader may block the event loop, and the number of rows read at once, which takes about as long. */
const READ_MS_MAX = 0.5;
const ROWS_MAX = 500;
const NO_DAY = -1;

type DayRow = [day: number, key: number, characters: number, requests: number];
type PeriodRow = [
  no: number,
  startMs: number,
  endMs: number,
  plan: string,
  limits: string,
  closed: number | null,
  running: number,
  closedRequests: number | null,
  allowanceUsed: number,
  testCharacters: number | null,
  ...credit: CreditRow,
];
type CreditRow = readonly [openingMicro: number, addedMicro: number, deductedMicro: number, balanceMicro: number];

/** Newest first. */
interface RecordedPeriods {
  readonly no: number;
  readonly row: TeamRow;
  readonly periods: readonly PeriodRow[];
}

const CREDIT = 'p.opening_micro, p.added_micro, p.deducted_micro, p.balance_micro';

const ROW = 'SELECT day, key, characters, requests FROM usage_days WHERE team = ?';

const SQL = {
  rows: tuples<DayRow>(`${ROW} AND (day, key) > (?, ?) AND day <= ? AND day <> ? ORDER BY day, key LIMIT ${ROWS_MAX}`),
  kept: tuples<DayRow>(`${ROW} AND day = ?`),
  counted: tuples<DayRow>(`SELECT b.day, u.key, u.day_characters, u.day_requests FROM books b JOIN key_books u ON u.team = b.team
    WHERE b.team = ? AND b.day BETWEEN ? AND ? AND u.day_requests > 0 ORDER BY u.key`),
  periods: tuples<PeriodRow>(`SELECT p.no, p.start_ms, coalesce(p.left_ms, p.end_ms), p.plan, p.limits, p.closed_characters,
      coalesce(p.no = b.period_no, 0), p.closed_requests, p.allowance_used, p.closed_test_characters, ${CREDIT}
    FROM periods p LEFT JOIN books b ON b.team = p.team
    WHERE p.team = ? AND (p.left_ms >= ? OR p.no = b.period_no) ORDER BY p.no DESC`),
  charged: tuples<[characters: number, requests: number, ofTests: number]>(`SELECT coalesce(sum(characters), 0),
      coalesce(sum(requests), 0), ${OF_TESTS} FROM (
        SELECT key, characters, requests FROM usage WHERE team = $team AND period_no = $no
        UNION ALL SELECT key, characters, requests FROM key_books WHERE team = $team AND period_no = $no
      ) u LEFT JOIN keys k ON k.no = u.key`),
};

type Parts = Pick<StoreParts, 'database' | 'path' | 'clock' | 'work' | 'accounts' | 'periods' | 'keys' | 'historyDays'>;

export class SqliteUsageHistory implements UsageHistory {
  readonly #parts: Parts;
  readonly #teams: TeamRows;
  readonly #pages: TeamPages;
  readonly #sql: Statements<typeof SQL>;
  #yieldAtMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#teams = new TeamRows(parts.database, 'teams and what deleted ones have left');
    this.#pages = new TeamPages(parts.work, this.#teams);
    this.#sql = prepared(parts.database, SQL);
  }

  async days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    // Runs as a queued operation, so that everything committed before it is in the file.
    const no = await this.#parts.work.run(`team ${teamId}`, () => this.#teams.number(teamId));
    if (no === undefined || isUnavailable(no)) return no;
    const found = await this.#read([no], range);
    return isUnavailable(found) ? found : found[0];
  }

  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    return this.#pages.readTogether(page, (numbers) => this.#read(numbers, range));
  }

  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    return this.#parts.work.run(`team ${teamId}`, (nowMs) => {
      this.#close(teamId, nowMs);
      const no = this.#teams.number(teamId);
      return no === undefined ? undefined : this.#periodsOf(this.#recorded(no, nowMs)!);
    });
  }

  pagePeriods(page: TeamPage, span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable> {
    return this.#pages.readTogether(page, async (numbers) => this.#unlocked(numbers, span) ?? this.#locked(numbers, span));
  }

  /** Readers and writers do not wait for each other. `undefined` if something has to be brought up to date. */
  #unlocked(numbers: readonly number[], span: PeriodSpan): readonly TeamPeriods[] | StoreUnavailable | undefined {
    const { clock, path } = this.#parts;
    const nowMs = clock.nowMs();
    try {
      return this.#snapshot(() => {
        const teams = numbers.flatMap((no) => this.#recorded(no, nowMs) ?? []);
        return teams.some((team) => isBehind(team, nowMs)) ? undefined : teams.map((team) => this.#inSpan(team, span));
      });
    } catch (error) {
      return answerTo(path, error);
    }
  }

  #locked(numbers: readonly number[], span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable> {
    return this.#parts.work.run('a page of teams', (nowMs) =>
      numbers.flatMap((no) => {
        let team = this.#recorded(no, nowMs);
        if (team !== undefined && isBehind(team, nowMs)) {
          this.#close(team.row.team.teamId, nowMs);
          team = this.#recorded(no, nowMs);
        }
        return team === undefined ? [] : [this.#inSpan(team, span)];
      }),
    );
  }

  #inSpan(recorded: RecordedPeriods, span: PeriodSpan): TeamPeriods {
    const { team, periodNo } = recorded.row;
    return {
      team,
      deleted: periodNo === 0,
      periods: this.#periodsOf(recorded)
        .filter((one) => isInSpan(one, span))
        .toReversed(),
    };
  }

  #recorded(no: number, nowMs: number): RecordedPeriods | undefined {
    const row = this.#teams.find(no);
    return row && { no, row, periods: this.#sql.periods.all(no, nowMs - this.#parts.historyDays * DAY_MS) };
  }

  /** Brings a team up to date, and closes the periods that can be closed. A deleted team has only closed ones left. */
  #close(teamId: string, nowMs: number): void {
    const { accounts, periods, work } = this.#parts;
    work.current(teamId, nowMs);
    const team = accounts.team(teamId);
    if (team === undefined) return;
    periods.closeAll(team, nowMs);
    accounts.flush();
  }

  #periodsOf({ no, row, periods }: RecordedPeriods): PeriodUse[] {
    return periods.map((period) => this.#periodOf(no, row, period));
  }

  #periodOf(team: number, { team: held, usedCharacters, allowanceUsed }: TeamRow, row: PeriodRow): PeriodUse {
    const [number, startMs, endMs, plan, limits, closed, isRunning, closedRequests, leftAllowance, closedTests, ...credit] = row;
    const bounds = { number, startMs, endMs };
    const counted = closed === null ? this.#sql.charged.get({ $team: team, $no: number })! : undefined;
    const requests = counted?.[1] ?? closedRequests!;
    const testCharacters = counted?.[2] ?? closedTests!;
    if (isRunning === 1) {
      const { plan: name, limits: current } = held;
      const counts = { characters: usedCharacters, allowanceUsed, testCharacters, requests };
      return { ...bounds, closed: false, plan: name, limits: current, ...counts, credit: creditOf(credit, held.balanceMicro) };
    }
    const characters = closed ?? counted![0];
    const kept = { plan, limits: JSON.parse(limits) as TeamLimits };
    const counts = { characters, allowanceUsed: leftAllowance, testCharacters, requests };
    return { ...bounds, closed: closed !== null, ...kept, ...counts, credit: creditOf(credit) };
  }

  /** Readers and writers do not wait for each other. */
  async #read(numbers: readonly number[], range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const { path, clock, historyDays } = this.#parts;
    const from = Math.max(range.from, dayOf(clock.nowMs()) - historyDays);
    const found: TeamDays[] = [];
    try {
      this.#yieldAtMs = performance.now() + READ_MS_MAX;
      for (const no of numbers) {
        const days = await this.#daysOf(no, from, range.to);
        if (days !== undefined) found.push(days);
      }
      return found;
    } catch (error) {
      return answerTo(path, error);
    }
  }

  /** A consistent snapshot: the current day is read together with the first rows, and those of other days do not change. */
  async #daysOf(team: number, from: number, to: number): Promise<TeamDays | undefined> {
    const begun = this.#snapshot(() => this.#begin(team, from, to));
    if (begun === undefined) return undefined;
    const { rows, keys, running, counted } = begun;
    for (let piece = rows; piece.length === ROWS_MAX;) {
      await nextTurn();
      const [day, key] = piece.at(-1)!;
      piece = this.#snapshot(() => this.#sql.rows.all(team, day, key, to, running));
      rows.push(...piece);
    }
    const at = rows.findIndex(([day]) => day > running);
    rows.splice(at === -1 ? rows.length : at, 0, ...counted);
    const used = new Set<number>();
    const days = rows.map(([day, key, characters, requests]): KeyDay => {
      used.add(key);
      return { day, keyId: keys.get(key)!.keyId, characters, requests };
    });
    await this.#yieldInTime();
    return { team: begun.team, keys: [...keys].flatMap(([no, key]) => (used.has(no) ? [key] : [])), days };
  }

  #begin(team: number, from: number, to: number) {
    const row = this.#teams.find(team);
    if (row === undefined) return undefined;
    const counting = this.#sql.counted.all(team, from, to);
    const running = counting[0]?.[0] ?? NO_DAY;
    // The current day may already have rows of its own, if the clock has stepped back to it.
    const counted = running === NO_DAY ? [] : together(this.#sql.kept.all(team, running), counting);
    const rows = this.#sql.rows.all(team, from, 0, to, running);
    const keys = new Map<number, KeyRecord>(rows.length + counted.length === 0 ? [] : this.#parts.keys.numbered(team));
    return { team: row.team, rows, keys, running, counted };
  }

  #snapshot<T>(read: () => T): T {
    const { database } = this.#parts;
    database.exec('BEGIN');
    try {
      return read();
    } finally {
      database.exec('COMMIT');
    }
  }

  async #yieldInTime(): Promise<void> {
    if (performance.now() < this.#yieldAtMs) return;
    await nextTurn();
    this.#yieldAtMs = performance.now() + READ_MS_MAX;
  }
}

/** Whether time has changed something that has to be written before the periods are right. */
function isBehind({ row, periods }: RecordedPeriods, nowMs: number): boolean {
  return row.periodEndMs <= nowMs || periods.some(([, , , , , closed, isRunning]) => closed === null && isRunning === 0);
}

/** The balance of the running period is the team's. */
function creditOf([openingMicro, addedMicro, deductedMicro, leftMicro]: CreditRow, balanceMicro = leftMicro): PeriodCredit {
  return { openingMicro, addedMicro, deductedMicro, balanceMicro };
}

/** Sums of the same day, ordered by key. */
function together(kept: readonly DayRow[], counted: readonly DayRow[]): DayRow[] {
  const rows = new Map(kept.map((row) => [row[1], row]));
  for (const [day, key, characters, requests] of counted) {
    const [, , before, requestsBefore] = rows.get(key) ?? [day, key, 0, 0];
    rows.set(key, [day, key, before + characters, requestsBefore + requests]);
  }
  return [...rows.values()].toSorted(([, key], [, otherKey]) => key - otherKey);
}

const PERIOD_SQL = {
  bounds: tuples<[startMs: number, endMs: number]>('SELECT start_ms, end_ms FROM periods WHERE team = ? AND no = ?'),
  closed: tuples<
    [
      startMs: number,
      endMs: number,
      plan: string,
      limits: string,
      characters: number,
      requests: number,
      allowanceUsed: number,
      testCharacters: number,
      ...CreditRow,
    ]
  >(
    `SELECT start_ms, coalesce(left_ms, end_ms), plan, limits, closed_characters, closed_requests, allowance_used,
      closed_test_characters, ${CREDIT} FROM periods p WHERE team = ? AND no = ?`,
  ),
  windowCounts: tuples<[subject: WindowSubject, counts: string]>('SELECT subject, counts FROM window_counts WHERE team = ?'),
  byKey: tuples<[key: number, characters: number, requests: number]>(
    'SELECT key, characters, requests FROM usage WHERE team = ? AND period_no = ?',
  ),
};

/** A team's usage in a period, in the transaction of another operation. */
export class PeriodUsage {
  readonly #teams: TeamRows;
  readonly #keys: KeyRows;
  readonly #sql: Statements<typeof PERIOD_SQL>;

  constructor(database: DatabaseSync, teams: TeamRows, keys: KeyRows) {
    this.#teams = teams;
    this.#keys = keys;
    this.#sql = prepared(database, PERIOD_SQL);
  }

  /** For the team's current period; the team must be up to date. */
  current(no: number, nowMs: number): Usage {
    const { team, usedCharacters, allowanceUsed, periodNo } = this.#teams.get(no);
    const [periodStartMs, periodEndMs] = this.#sql.bounds.get(no, periodNo)!;
    const keys = this.#keys.usage(no);
    return this.#withWindows(no, { team, periodStartMs, periodEndMs, characters: usedCharacters, allowanceUsed, keys }, nowMs);
  }

  #withWindows(no: number, usage: Usage, nowMs: number): Usage {
    const { windows } = usage.team.limits;
    if (windows === NO_WINDOWS && usage.keys.every(({ limits }) => limits.windows === undefined)) return usage;
    const counts = new Map(this.#sql.windowCounts.all(no));
    return withWindowUses(usage, (subject) => storedCounts(counts.get(subject)), nowMs);
  }

  /** For a closed period with usage. */
  closed(no: number, periodNo: number): { readonly period: PeriodUse; readonly usage: Usage } {
    const row = this.#sql.closed.get(no, periodNo)!;
    const [startMs, endMs, plan, limitsJson, characters, requestsOfAll, allowanceUsed, testCharacters, ...credit] = row;
    const { team } = this.#teams.get(no);
    const limits = JSON.parse(limitsJson) as TeamLimits;
    const used = new Map(this.#sql.byKey.all(no, periodNo).map(([key, ...counts]) => [key, counts]));
    const keys = this.#keys.numbered(no).map(([key, record]) => {
      const [charged = 0, requests = 0] = used.get(key) ?? [];
      return { ...record, characters: charged, requests };
    });
    return {
      period: {
        number: periodNo,
        startMs,
        endMs,
        closed: true,
        plan,
        limits,
        characters,
        allowanceUsed,
        testCharacters,
        requests: requestsOfAll,
        credit: creditOf(credit),
      },
      usage: { team: { ...team, plan, limits }, periodStartMs: startMs, periodEndMs: endMs, characters, allowanceUsed, keys },
    };
  }
}
