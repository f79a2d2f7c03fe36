// What SQLite has of usage: charges and periods as rows.
import { nextTurn } from '../../core/turns.ts';
import type { DayRange } from '../../domain/usage-days.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import type { Charges, UsageRows, UsageSource } from '../records/usage-rows.ts';
import { ERASING } from './schema.ts';
import { onRows } from './sqlite-records.ts';
import type { SqliteParts } from './sqlite-records.ts';
import type { SqliteTeams, TeamRow } from './sqlite-teams.ts';
import { looked } from './store-fault.ts';

/** Between reads, the ledger goes on. */
const ROWS_MAX = 2000;
const ALL_DAYS = { from: 0, to: Number.MAX_SAFE_INTEGER };

type ChargeColumns = [
  keyId: string,
  day: number,
  period: number,
  characters: number,
  requests: number,
  micro: number,
  ofAllowance: number,
  key: number,
];

export class SqliteUsage implements UsageSource {
  readonly #parts: SqliteParts;
  readonly #teams: SqliteTeams;

  constructor(parts: SqliteParts, teams: SqliteTeams) {
    [this.#parts, this.#teams] = [parts, teams];
  }

  async one(teamId: string, charges: Charges): Promise<UsageRows | undefined> {
    const [found] = await this.#read(() => {
      const row = this.#teams.find(teamId);
      return row === undefined || row.erasure === ERASING ? [] : [row];
    }, charges);
    return found;
  }

  page(page: TeamPage, charges: Charges): Promise<readonly UsageRows[]> {
    return this.#read(() => this.#teams.rows(page, `erasure <> ${ERASING}`), charges);
  }

  async #read(find: () => readonly TeamRow[], charges: Charges): Promise<readonly UsageRows[]> {
    const found = await onRows(this.#parts, (nowMs) =>
      find().map((row) => {
        const { no, team, openingMicro } = row;
        const keys = this.#teams.keys(no, nowMs);
        const rows = { team, keys, charges: [], ended: [], period: undefined, openingMicro, firstOpen: Infinity };
        return { no, rows: charges === 'by period' ? { ...rows, ...this.#byPeriod(row, nowMs) } : rows };
      }),
    );
    return charges === 'by period' ? answered(found).map(({ rows }) => rows) : this.#withDays(answered(found), charges);
  }

  #byPeriod({ no, team: { teamId } }: TeamRow, nowMs: number): Partial<UsageRows> {
    const { accounts, sql } = this.#parts;
    const account = accounts.account(teamId, nowMs)?.account;
    accounts.flush();
    const sums = sql.rows<ChargeColumns>(
      `SELECT k.key_id, 0, period_no, sum(characters), sum(requests), sum(micro), sum(of_allowance), u.key
       FROM usage u JOIN keys k ON k.no = u.key WHERE u.team = ? GROUP BY period_no, u.key ORDER BY u.key`,
      no,
    );
    const rows = { charges: sums.map(chargeOf), ended: this.ended(no) };
    if (account === undefined) return rows;
    const firstOpen = Math.min(...[...account.reservations.values()].map(({ period }) => period));
    return { ...rows, team: account.shown(), period: account.counts.period, firstOpen };
  }

  /** With the charges of these days, so many at a time: charges only add to rows, so that each may be read at another moment. */
  async #withDays(teams: readonly { readonly no: number; readonly rows: UsageRows }[], range: DayRange): Promise<readonly UsageRows[]> {
    const all: UsageRows[] = [];
    let left = ROWS_MAX;
    for (const { no, rows } of teams) {
      const charges: ChargeColumns[] = [];
      for (let isWhole = false; !isWhole;) {
        const some = answered(looked(this.#parts.path, () => this.#charges(no, range, charges.at(-1), left)));
        charges.push(...some);
        isWhole = some.length < left;
        left -= some.length;
        if (left > 0) continue;
        await nextTurn();
        left = ROWS_MAX;
      }
      all.push({ ...rows, charges: charges.map(chargeOf) });
    }
    return all;
  }

  #charges(no: number, { from, to }: DayRange, after: ChargeColumns | undefined, limit: number): ChargeColumns[] {
    const [, day = 0, period = 0, , , , , key = 0] = after ?? [];
    const text = `SELECT k.key_id, u.day, u.period_no, u.characters, u.requests, u.micro, u.of_allowance, u.key
      FROM usage u CROSS JOIN keys k ON k.no = u.key WHERE u.team = ? AND (u.key, u.period_no, u.day) > (?, ?, ?)
        AND u.day BETWEEN ? AND ? ORDER BY u.key, u.period_no, u.day LIMIT ?`;
    return this.#parts.sql.rows<ChargeColumns>(text, no, key, period, day, from, to, limit);
  }

  /** Within a transaction: all charges of a team. */
  charges(no: number): ChargeRow[] {
    return this.#charges(no, ALL_DAYS, undefined, -1).map(chargeOf);
  }

  /** Oldest first. */
  ended(no: number): EndedPeriod[] {
    const found = this.#parts.sql.rows<[ended: string]>('SELECT ended FROM periods WHERE team = ? ORDER BY number', no);
    return found.map(([text]) => JSON.parse(text) as EndedPeriod);
  }
}

function chargeOf([keyId, day, period, characters, requests, micro, ofAllowance]: ChargeColumns): ChargeRow {
  return { keyId, day, period, characters, requests, micro, ofAllowance };
}
