// Teams and keys as rows, for everything but the ledger: one, a page of them, by a search; and teams as operations of the group commit
// have them, on their accounts.
import type { KeyDigest, KeyMode, KeyOwner } from '../../domain/api-key.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { firstCounts } from '../../ledger/account-rows.ts';
import { shownKey } from '../../ledger/key-account.ts';
import type { FoundKey, KeyRecord, KeySearch, NewTeam, Team, TeamPage } from '../../ports/team-registry.ts';
import type { OpenTeam, TeamSpace } from '../records/team-registry.ts';
import { NOT_ERASED } from './schema.ts';
import type { Sql } from './sql.ts';
import { onRows } from './sqlite-records.ts';
import type { SqliteParts } from './sqlite-records.ts';

export interface TeamRow {
  readonly no: number;
  /** With its balance, which is 0 once it is deleted. */
  readonly team: Team;
  readonly erasure: number;
  readonly openingMicro: number;
}

type TeamColumns = [no: number, record: string, balanceMicro: number, erasure: number, openingMicro: number];
type KeyColumns = [
  record: string,
  lastUsedAtMs: number | null,
  digest: KeyDigest | null,
  newestMs: number | null,
  window: Uint8Array<ArrayBuffer> | null,
];

const TEAM = `SELECT t.no, t.record, coalesce(a.balance_micro, 0), t.erasure, t.opening_micro
  FROM teams t LEFT JOIN accounts a ON a.team = t.no WHERE`;
// If the team before the page is gone, the page begins after where it was: ids are ULIDs.
const pageOf = (which: string): string => `${TEAM} ${which} AND (?1 IS NULL OR t.no > coalesce(
    (SELECT no FROM teams WHERE team_id = ?1 AND ${which}),
    (SELECT min(no) - 1 FROM teams WHERE team_id > ?1 AND ${which}), (SELECT max(no) FROM teams)))
  AND iif(?4, lower(?3) IN (lower(name), lower(reference)),
    instr(lower(name || char(10) || coalesce(reference, '') || char(10) || team_id), lower(?3)) > 0)
  ORDER BY t.no LIMIT ?2`;
// Displays are not indexed, because an index would cost every key.
const FOUND = { digest: 'k.digest = ?', display: "k.record ->> 'display' = ? ORDER BY k.record ->> 'createdAtMs', k.key_id" };

export class SqliteTeams implements TeamSpace {
  readonly #parts: SqliteParts;
  readonly #sql: Sql;

  constructor(parts: SqliteParts) {
    [this.#parts, this.#sql] = [parts, parts.sql];
  }

  view<T>(teamId: string, show: (team: OpenTeam) => T): Promise<T | undefined | StoreUnavailable> {
    return this.#parts.group.run((nowMs) => {
      const open = this.#parts.accounts.account(teamId, nowMs);
      return open && show({ ...open, nowMs });
    });
  }

  /** The same: what is changed is written at the end of the transaction. */
  change<T>(teamId: string, decide: (team: OpenTeam) => T): Promise<T | undefined | StoreUnavailable> {
    return this.view(teamId, decide);
  }

  create(team: NewTeam, begin: (team: OpenTeam) => void): Promise<Team | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => {
      const { accounts } = this.#parts;
      const known = accounts.account(team.teamId, nowMs);
      if (known !== undefined) return known.account.shown();
      if (this.find(team.teamId) !== undefined) throw new RangeError(`team ${team.teamId} was deleted; use another id.`);
      accounts.put({ ...team, createdAtMs: nowMs }, firstCounts(team.balanceMicro, nowMs));
      const made = accounts.account(team.teamId, nowMs)!;
      begin({ ...made, nowMs });
      return made.account.shown();
    });
  }

  pageTeams(page: TeamPage): Promise<readonly Team[] | StoreUnavailable> {
    return onRows(this.#parts, () => this.rows(page).map(({ team }) => team));
  }

  page<T>(page: TeamPage, show: (team: OpenTeam) => T): Promise<readonly T[] | StoreUnavailable> {
    const { accounts } = this.#parts;
    return onRows(this.#parts, (nowMs) =>
      this.rows(page).map(({ team: { teamId } }) => show({ ...accounts.account(teamId, nowMs)!, nowMs })),
    );
  }

  findKeys(search: KeySearch): Promise<readonly FoundKey[] | StoreUnavailable> {
    return onRows(this.#parts, (nowMs) => {
      const [which, value] = 'digest' in search ? [FOUND.digest, search.digest] : [FOUND.display, search.display];
      const found = this.#sql.rows<[record: string, lastUsedAtMs: number | null, teamName: string]>(
        `SELECT k.record, u.last_used_at_ms, t.name FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED}
         LEFT JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE ${which}`,
        value,
      );
      return found.map(([record, lastUsedAtMs, teamName]) => ({ ...keyOf(record, lastUsedAtMs, nowMs), teamName }));
    });
  }

  /** Whatever has become of it. */
  find(teamId: string): TeamRow | undefined {
    const columns = this.#sql.row<TeamColumns>(`${TEAM} t.team_id = ?`, teamId);
    return columns && rowOf(columns);
  }

  /** In order of creation; `which` is a condition on its deletion. */
  rows({ after, limit, search = '', exact }: TeamPage, which = `erasure = ${NOT_ERASED}`): TeamRow[] {
    const most = Number.isFinite(limit) ? limit : -1;
    return this.#sql.rows<TeamColumns>(pageOf(which), after ?? null, most, search, exact === true ? 1 : 0).map(rowOf);
  }

  /** In order of creation. */
  keys(no: number, nowMs: number): KeyRecord[] {
    return this.keyRows(no).map(([record, lastUsedAtMs]) => keyOf(record, lastUsedAtMs, nowMs));
  }

  keyRows(no: number): KeyColumns[] {
    return this.#sql.rows<KeyColumns>(
      `SELECT k.record, u.last_used_at_ms, k.digest, u.window_newest_ms, u.window
       FROM keys k LEFT JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.team = ? ORDER BY k.no`,
      no,
    );
  }

  owner(digest: KeyDigest): KeyOwner | undefined {
    const [keyId, teamId, mode] =
      this.#sql.row<[keyId: string, teamId: string, mode: KeyMode]>(
        `SELECT k.key_id, t.team_id, k.record ->> 'mode' FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED}
         WHERE k.digest = ?`,
        digest,
      ) ?? [];
    return keyId === undefined ? undefined : { keyId, teamId: teamId!, mode: mode! };
  }
}

function rowOf([no, record, balanceMicro, erasure, openingMicro]: TeamColumns): TeamRow {
  return { no, team: { ...(JSON.parse(record) as Team), balanceMicro }, erasure, openingMicro };
}

/** As lists show it at a moment. */
function keyOf(record: string, lastUsedAtMs: number | null, nowMs: number): KeyRecord {
  return shownKey(JSON.parse(record) as KeyRecord, lastUsedAtMs || undefined, nowMs);
}
