// Usage by day and period in SQLite: sums over what was charged.
import { DAY_MS, dayOf, movedCredit, isInSpan } from '../../domain/period.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyRecord, TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodSpan, PeriodUse, TeamDays, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { ERASING, ONLY_USAGE_LEFT } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamQueries, TeamRow } from './team-table.ts';

interface PeriodRow extends Omit<PeriodUse, 'credit' | 'closed' | 'limits'> {
  readonly isLeft: number;
  readonly limits: string;
  readonly addedMicro: number;
  readonly deductedMicro: number;
  readonly micro: number;
  readonly balanceMicro: number;
}

type ChargeRow = [key: number, period: number, day: number, keyId: string, characters: number, requests: number];

/** Between reads, the ledger goes on. */
const ROWS_MAX = 2000;

const SQL = {
  // The balance at the end of each is that before the first, and everything that has moved it since.
  periods: objects<PeriodRow>(`SELECT p.no AS number, start_ms AS startMs, end_ms AS endMs, coalesce(p.plan, $plan) AS plan,
      coalesce(p.limits, $limits) AS limits, p.plan IS NOT NULL AS isLeft, coalesce(u.characters, 0) AS characters,
      coalesce(u.requests, 0) AS requests, coalesce(u.micro, 0) AS micro, coalesce(u.of_allowance, 0) AS allowanceUsed,
      coalesce(u.of_tests, 0) AS testCharacters, added_micro AS addedMicro, deducted_micro AS deductedMicro,
      $opening + sum(added_micro - deducted_micro - coalesce(u.micro, 0)) OVER (ORDER BY p.no) AS balanceMicro
    FROM periods p LEFT JOIN (SELECT period_no, sum(characters) AS characters, sum(requests) AS requests, sum(micro) AS micro,
        sum(of_allowance) AS of_allowance, sum(iif(k.mode = 'test', characters, 0)) AS of_tests
      FROM usage JOIN keys k ON k.no = usage.key WHERE usage.team = $team GROUP BY period_no) u ON u.period_no = p.no
    WHERE p.team = $team ORDER BY p.no DESC`),
  firstOpen: tuples<[no: number | null]>('SELECT min(period_no) FROM operations WHERE team = ?'),
  days: objects<KeyDay>(`SELECT day, k.key_id AS keyId, sum(characters) AS characters, sum(requests) AS requests
    FROM usage u JOIN keys k ON k.no = u.key WHERE u.team = ? AND day >= 0 GROUP BY day, u.key ORDER BY day, u.key`),
  charges: tuples<ChargeRow>(`SELECT u.key, u.period_no, u.day, k.key_id, u.characters, u.requests
    FROM usage u CROSS JOIN keys k ON k.no = u.key WHERE u.team = ? AND (u.key, u.period_no, u.day) > (?, ?, ?)
      AND u.day BETWEEN ? AND ? ORDER BY u.key, u.period_no, u.day LIMIT ?`),
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts' | 'historyDays'>;

export class SqliteUsageHistory implements UsageHistory {
  readonly #parts: Parts;
  readonly #teams: TeamQueries;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: TeamQueries) {
    this.#parts = parts;
    this.#teams = teams;
    this.#sql = prepared(parts.database, SQL);
  }

  async days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    const row = await onRows(this.#parts, () => this.#teams.find(teamId));
    if (row === undefined || isUnavailable(row)) return row;
    const found = row.erasure === ERASING ? [] : await this.#daysOf([row], range);
    return isUnavailable(found) ? found : found[0];
  }

  async pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const rows = await onRows(this.#parts, () => this.#teams.page(page, `erasure <> ${ERASING}`));
    return isUnavailable(rows) ? rows : this.#daysOf(rows, range);
  }

  /** Some rows at a time: charges only add to rows, so that each may be read at another moment. */
  async #daysOf(rows: readonly TeamRow[], { from, to }: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    const all: TeamDays[] = [];
    let charges: ChargeRow[] = [];
    while (all.length < rows.length) {
      const failed = await onRows(this.#parts, (nowMs) => {
        const first = Math.max(from, 0, dayOf(nowMs) - this.#parts.historyDays);
        for (let left = ROWS_MAX; left > 0 && all.length < rows.length;) {
          const row = rows[all.length]!;
          const [key, period, day] = charges.at(-1) ?? [0, 0, 0];
          const more = this.#sql.charges.all(row.no, key, period, day, first, Math.min(to, Number.MAX_SAFE_INTEGER), left);
          charges.push(...more);
          if (more.length < left) {
            all.push(this.#teamDays(row, charges, nowMs));
            charges = [];
          }
          left -= more.length;
        }
        return undefined;
      });
      if (failed !== undefined) return failed;
    }
    return all;
  }

  #teamDays({ no, team }: TeamRow, charges: readonly ChargeRow[], nowMs: number): TeamDays {
    const days: (KeyDay & { characters: number; requests: number })[] = [];
    for (const [, , day, keyId, characters, requests] of charges.toSorted((one, other) => one[2] - other[2] || one[0] - other[0])) {
      const last = days.at(-1);
      if (last?.day !== day || last.keyId !== keyId) days.push({ day, keyId, characters, requests });
      else [last.characters, last.requests] = [last.characters + characters, last.requests + requests];
    }
    const used = new Set(days.map(({ keyId }) => keyId));
    return { team, keys: this.#teams.keys(no, nowMs).filter((key: KeyRecord) => used.has(key.keyId)), days };
  }

  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => {
      this.#parts.accounts.account(teamId, nowMs);
      this.#parts.accounts.flush();
      const row = this.#teams.find(teamId);
      return row === undefined || row.erasure === ERASING ? undefined : this.periodsOf(row, nowMs);
    });
  }

  pagePeriods(page: TeamPage, span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => {
      const rows = this.#teams.page(page, `erasure <> ${ERASING}`);
      for (const { team, erasure } of rows) if (erasure === 0) this.#parts.accounts.account(team.teamId, nowMs);
      this.#parts.accounts.flush();
      return rows.map(({ team: { teamId } }) => {
        const row = this.#teams.find(teamId)!;
        const periods = this.periodsOf(row, nowMs).filter((period) => isInSpan(period, span));
        return { team: row.team, deleted: row.erasure !== 0, periods: periods.toReversed() };
      });
    });
  }

  /** Within a transaction, newest first: those within the retention; of a deleted team those that charged something or moved credit. */
  periodsOf({ no, team: { plan, limits }, erasure, openingMicro }: TeamRow, nowMs = 0): PeriodUse[] {
    const values = { $team: no, $plan: plan, $limits: JSON.stringify(limits), $opening: openingMicro };
    const firstOpen = this.#sql.firstOpen.get(no)?.[0] ?? Infinity;
    const periods = this.#sql.periods.all(values).map((row): PeriodUse => {
      const { addedMicro, deductedMicro, micro, balanceMicro, isLeft, limits: written, ...period } = row;
      const openingMicroOf = balanceMicro - addedMicro + deductedMicro + micro;
      const credit = { openingMicro: openingMicroOf, addedMicro, deductedMicro, balanceMicro };
      // In order: what is settled late changes the balances since.
      const closed = isLeft === 1 && row.number < firstOpen;
      return { ...period, closed, limits: JSON.parse(written) as TeamLimits, credit };
    });
    const fromMs = nowMs - this.#parts.historyDays * DAY_MS;
    return periods.filter(
      ({ endMs, closed, characters, credit }) =>
        (erasure !== ONLY_USAGE_LEFT || characters > 0 || movedCredit(credit)) && (!closed || endMs >= fromMs),
    );
  }

  /** Within a transaction: every day that is left. */
  allDays(no: number): readonly KeyDay[] {
    return this.#sql.days.all(no);
  }
}
