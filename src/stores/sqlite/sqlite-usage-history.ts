// Usage by day and period in SQLite: sums over what was charged.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { movedCredit } from '../../domain/period-credit.ts';
import { isInSpan } from '../../domain/period-span.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyRecord, TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodSpan, PeriodUse, TeamDays, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { ERASING, ONLY_USAGE_LEFT, OPEN } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamTable, TeamRow } from './team-table.ts';

interface PeriodRow extends Omit<PeriodUse, 'credit' | 'closed' | 'limits'> {
  readonly isLeft: number;
  readonly limits: string;
  readonly addedMicro: number;
  readonly deductedMicro: number;
  readonly micro: number;
  readonly balanceMicro: number;
}

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
  firstOpen: tuples<[no: number | null]>(`SELECT min(period_no) FROM operations WHERE team = ? AND state = ${OPEN}`),
  days: objects<KeyDay>(`SELECT day, k.key_id AS keyId, sum(characters) AS characters, sum(requests) AS requests
    FROM usage u JOIN keys k ON k.no = u.key WHERE u.team = ? AND day BETWEEN ? AND ? GROUP BY day, u.key ORDER BY day, u.key`),
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts' | 'historyDays'>;

export class SqliteUsageHistory implements UsageHistory {
  readonly #parts: Parts;
  readonly #teams: TeamTable;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: TeamTable) {
    this.#parts = parts;
    this.#teams = teams;
    this.#sql = prepared(parts.database, SQL);
  }

  days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => {
      const row = this.#teams.find(teamId);
      return row === undefined || row.erasure === ERASING ? undefined : this.daysOf(row, range, nowMs);
    });
  }

  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => this.#teams.page(page, `erasure <> ${ERASING}`).map((row) => this.daysOf(row, range, nowMs)));
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
    return this.#sql.days.all(no, 0, Number.MAX_SAFE_INTEGER);
  }

  /** Within a transaction. */
  daysOf({ no, team }: TeamRow, { from, to }: DayRange, nowMs: number): TeamDays {
    const first = Math.max(from, 0, dayOf(nowMs) - this.#parts.historyDays);
    const days = this.#sql.days.all(no, first, Math.min(to, Number.MAX_SAFE_INTEGER));
    const used = new Set(days.map(({ keyId }) => keyId));
    const keys = this.#teams.keys(no, nowMs).filter((key: KeyRecord) => used.has(key.keyId));
    return { team, keys, days };
  }
}
