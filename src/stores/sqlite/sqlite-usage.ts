// What SQLite has of usage: charges and periods as rows.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Account } from '../../ledger/account.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import type { Charges, UsageRows, UsageSource } from '../records/usage-rows.ts';
import { ERASING } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { SqliteTeams, TeamRow } from './sqlite-teams.ts';

type NumberedCharge = ChargeRow & { readonly key: number };

/** Between reads, the ledger goes on. */
const ROWS_MAX = 2000;
const BEFORE_ALL = { key: 0, period: 0, day: 0 };

const SQL = {
  ended: tuples<[value: string]>("SELECT value FROM records WHERE team = ? AND kind = 'periods' ORDER BY CAST(id AS INTEGER)"),
  sums: objects<ChargeRow>(`SELECT k.key_id AS keyId, 0 AS day, period_no AS period, sum(characters) AS characters,
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
  readonly #teams: SqliteTeams;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: SqliteTeams) {
    [this.#parts, this.#teams] = [parts, teams];
    this.#sql = prepared(parts.database, SQL);
  }

  async one(teamId: string, charges: Charges): Promise<UsageRows | undefined | StoreUnavailable> {
    const found = await this.#read(() => [this.#teams.find(teamId) ?? []].flat().filter(({ erasure }) => erasure !== ERASING), charges);
    return isUnavailable(found) ? found : found[0];
  }

  page(page: TeamPage, charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable> {
    return this.#read(() => this.#teams.rows(page, `erasure <> ${ERASING}`), charges);
  }

  async #read(find: () => readonly TeamRow[], charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable> {
    const found = await onRows(this.#parts, (nowMs) => {
      const { accounts } = this.#parts;
      const byPeriod = charges === 'by period';
      const teams = find().map((row) => ({ row, account: byPeriod ? accounts.account(row.team.teamId, nowMs)?.account : undefined }));
      accounts.flush();
      return teams.map(({ row, account }) => {
        const { no, team, openingMicro } = row;
        const rows = {
          team,
          keys: this.#teams.keys(no, nowMs),
          charges: [],
          ended: [],
          period: undefined,
          openingMicro,
          firstOpen: Infinity,
        };
        return { no, rows: byPeriod ? { ...rows, ...this.#byPeriod(no, account) } : rows };
      });
    });
    if (isUnavailable(found) || charges === 'by period') return isUnavailable(found) ? found : found.map(({ rows }) => rows);
    const read = await this.#chargesOn(
      found.map(({ no }) => no),
      charges,
    );
    return isUnavailable(read) ? read : found.map(({ no, rows }) => ({ ...rows, charges: read.get(no)! }));
  }

  /** Of several teams, some rows at a time: charges only add to rows, so that each may be read at another moment. */
  async #chargesOn(
    teams: readonly number[],
    { from, to }: DayRange,
  ): Promise<ReadonlyMap<number, readonly ChargeRow[]> | StoreUnavailable> {
    const all = new Map(teams.map((no) => [no, [] as NumberedCharge[]]));
    for (let first = 0; first < teams.length;) {
      const read = await this.#parts.group.run(() => {
        const some: NumberedCharge[][] = [];
        for (let i = first, left = ROWS_MAX; left > 0 && i < teams.length; i++) {
          const { key, period, day } = all.get(teams[i]!)!.at(-1) ?? BEFORE_ALL;
          some.push(this.#sql.charges.all(teams[i]!, key, period, day, from, to, left));
          left -= some.at(-1)!.length;
        }
        return some;
      });
      if (isUnavailable(read)) return read;
      for (const [i, rows] of read.entries()) all.get(teams[first + i]!)!.push(...rows);
      // The last of them may have more.
      const isFull = read.flat().length === ROWS_MAX;
      first += isFull ? read.length - 1 : read.length;
    }
    return all;
  }

  #byPeriod(no: number, account: Account | undefined): Partial<UsageRows> {
    const charges = this.#sql.sums.all(no);
    if (account === undefined) return { charges, ended: this.#ended(no) };
    const firstOpen = Math.min(...[...account.reservations.values()].map(({ period }) => period));
    return { team: account.shown(), charges, ended: this.#ended(no), period: account.counts.period, firstOpen };
  }

  #ended(no: number): EndedPeriod[] {
    return this.#sql.ended.all(no).map(([text]) => JSON.parse(text) as EndedPeriod);
  }

  /** Within a transaction: all that is stored. */
  whole(no: number): Pick<WholeAccount, 'charges' | 'ended'> {
    const { key, period, day } = BEFORE_ALL;
    return { charges: this.#sql.charges.all(no, key, period, day, 0, Number.MAX_SAFE_INTEGER, -1), ended: this.#ended(no) };
  }
}
