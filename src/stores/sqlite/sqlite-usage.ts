// What SQLite has of usage: charges and periods as rows.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, Charges, EndedPeriod, UsageRows, UsageSource } from '../records/usage-rows.ts';
import { UNKNOWN } from '../records/usage-rows.ts';
import { ERASING, NOT_ERASED } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamQueries, TeamRow } from './team-table.ts';

type PeriodRow = Omit<EndedPeriod, 'plan' | 'limits'> & { readonly plan: string | null; readonly limits: string };
type NumberedCharge = ChargeRow & { readonly key: number };

/** Between reads, the ledger goes on. */
const ROWS_MAX = 2000;
const BEFORE_ALL = { key: 0, period: 0, day: 0 };

const SQL = {
  periods: objects<PeriodRow>(`SELECT no AS number, start_ms AS startMs, end_ms AS endMs, plan, limits, added_micro AS addedMicro,
      deducted_micro AS deductedMicro FROM periods WHERE team = ? ORDER BY no`),
  firstOpen: tuples<[no: number | null]>('SELECT min(period_no) FROM operations WHERE team = ?'),
  sums: objects<ChargeRow>(`SELECT k.key_id AS keyId, ${UNKNOWN} AS day, period_no AS period, sum(characters) AS characters,
      sum(requests) AS requests, sum(micro) AS micro, sum(of_allowance) AS ofAllowance
    FROM usage u JOIN keys k ON k.no = u.key WHERE u.team = ? GROUP BY period_no, u.key ORDER BY u.key`),
  charges: objects<NumberedCharge>(`SELECT u.key, k.key_id AS keyId, u.day, u.period_no AS period, u.characters, u.requests, u.micro,
      u.of_allowance AS ofAllowance
    FROM usage u CROSS JOIN keys k ON k.no = u.key WHERE u.team = ? AND (u.key, u.period_no, u.day) > (?, ?, ?)
      AND u.day BETWEEN ? AND ? ORDER BY u.key, u.period_no, u.day LIMIT ?`),
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts'>;

export class SqliteUsage implements UsageSource {
  readonly #parts: Parts;
  readonly #teams: TeamQueries;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: TeamQueries) {
    [this.#parts, this.#teams] = [parts, teams];
    this.#sql = prepared(parts.database, SQL);
  }

  async one(teamId: string, charges: Charges): Promise<UsageRows | undefined | StoreUnavailable> {
    const found = await this.#read(() => [this.#teams.find(teamId) ?? []].flat().filter(({ erasure }) => erasure !== ERASING), charges);
    return isUnavailable(found) ? found : found[0];
  }

  page(page: TeamPage, charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable> {
    return this.#read(() => this.#teams.page(page, `erasure <> ${ERASING}`), charges);
  }

  async #read(find: () => readonly TeamRow[], charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable> {
    const found = await onRows(this.#parts, (nowMs) => {
      if (charges !== 'by period') return find().map((row) => ({ no: row.no, rows: this.#rowsOf(row, nowMs, []) }));
      const { accounts } = this.#parts;
      for (const { team, erasure } of find()) if (erasure === NOT_ERASED) accounts.account(team.teamId, nowMs);
      accounts.flush();
      return find().map((row) => ({ no: row.no, rows: { ...this.#rowsOf(row, nowMs), charges: this.#sql.sums.all(row.no) } }));
    });
    if (isUnavailable(found)) return found;
    const read: UsageRows[] = [];
    for (const { no, rows } of found) {
      const own = charges === 'by period' ? rows.charges : await this.#chargesOn(no, charges);
      if (isUnavailable(own)) return own;
      read.push({ ...rows, charges: own });
    }
    return read;
  }

  /** Some rows at a time: charges only add to rows, so that each may be read at another moment. */
  async #chargesOn(no: number, { from, to }: DayRange): Promise<readonly ChargeRow[] | StoreUnavailable> {
    const all: NumberedCharge[] = [];
    for (let isMore = true; isMore;) {
      const { key, period, day } = all.at(-1) ?? BEFORE_ALL;
      const more = await this.#parts.group.run(() => this.#sql.charges.all(no, key, period, day, from, to, ROWS_MAX));
      if (isUnavailable(more)) return more;
      all.push(...more);
      isMore = more.length === ROWS_MAX;
    }
    return all;
  }

  /** Within a transaction: all that is stored, whatever has ended. */
  whole(row: TeamRow): UsageRows {
    const { key, period, day } = BEFORE_ALL;
    return { ...this.#rowsOf(row, 0), charges: this.#sql.charges.all(row.no, key, period, day, UNKNOWN, Number.MAX_SAFE_INTEGER, -1) };
  }

  /** Without its charges. */
  #rowsOf({ no, team, erasure, openingMicro }: TeamRow, nowMs: number, periods = this.#sql.periods.all(no)): UsageRows {
    return {
      team,
      deleted: erasure !== NOT_ERASED,
      keys: this.#teams.keys(no, nowMs),
      charges: [],
      ended: periods.flatMap(({ plan, limits, ...one }) =>
        plan === null ? [] : { ...one, plan, limits: JSON.parse(limits) as TeamLimits },
      ),
      running: periods.find(({ plan }) => plan === null),
      openingMicro,
      firstOpen: this.#sql.firstOpen.get(no)?.[0] ?? Infinity,
    };
  }
}
