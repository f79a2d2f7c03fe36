// Teams and keys as rows, for everything but the ledger: one, a page of them, by a search; and teams as operations of the group commit
// have them, on their accounts.
import type { KeyDigest, KeyMode, KeyOwner } from '../../domain/api-key.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { firstCounts } from '../../ledger/account.ts';
import { shownKey } from '../../ledger/key-account.ts';
import type { FoundKey, KeyRecord, KeySearch, NewTeam, Team, TeamPage } from '../../ports/team-registry.ts';
import type { OpenTeam, TeamSpace } from '../records/team-registry.ts';
import { NOT_ERASED } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import { prepared, tuples } from './statements.ts';
import type { Statement, Statements } from './statements.ts';

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
type FoundColumns = [record: string, lastUsedAtMs: number | null, teamName: string];

const TEAM = `SELECT t.no, t.record, coalesce(b.balance_micro, 0), t.erasure, t.opening_micro
  FROM teams t LEFT JOIN accounts b ON b.team = t.no WHERE`;
const FOUND = `SELECT k.record, u.last_used_at_ms, t.name FROM keys k JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED}
  LEFT JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE`;
// If the team before the page is gone, the page begins after where it was: ids are ULIDs.
const pageOf = (which: string): string => `${TEAM} ${which} AND ($after IS NULL OR t.no > coalesce(
    (SELECT no FROM teams WHERE team_id = $after AND ${which}),
    (SELECT min(no) - 1 FROM teams WHERE team_id > $after AND ${which}), (SELECT max(no) FROM teams)))
  AND iif($exact, lower($text) IN (lower(name), lower(reference)),
    instr(lower(name || char(10) || coalesce(reference, '') || char(10) || team_id), lower($text)) > 0)
  ORDER BY t.no LIMIT $limit`;

const SQL = {
  one: tuples<TeamColumns>(`${TEAM} t.team_id = ?`),
  number: tuples<[no: number]>(`SELECT no FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`),
  keys: tuples<KeyColumns>(`SELECT k.record, u.last_used_at_ms, k.digest, u.window_newest_ms, u.window FROM keys k
    LEFT JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.team = ? ORDER BY k.no`),
  owner: tuples<[keyId: string, teamId: string, mode: KeyMode]>(`SELECT k.key_id, t.team_id, k.mode FROM keys k
    JOIN teams t ON t.no = k.team AND t.erasure = ${NOT_ERASED} WHERE k.digest = ?`),
  byDigest: tuples<FoundColumns>(`${FOUND} k.digest = ?`),
  // Not indexed, because an index would cost every key.
  byDisplay: tuples<FoundColumns>(`${FOUND} k.display = ? ORDER BY k.record ->> 'createdAtMs', k.key_id`),
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts'>;

export class SqliteTeams implements TeamSpace {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  readonly #pages = new Map<string, Statement<TeamColumns>>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
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
      const found = 'digest' in search ? this.#sql.byDigest.all(search.digest) : this.#sql.byDisplay.all(search.display);
      return found.map(([record, lastUsedAtMs, teamName]) => ({ ...keyOf(record, lastUsedAtMs, nowMs), teamName }));
    });
  }

  /** Whatever has become of it. */
  find(teamId: string): TeamRow | undefined {
    const columns = this.#sql.one.get(teamId);
    return columns && rowOf(columns);
  }

  /** Of a team that exists. */
  number(teamId: string): number | undefined {
    return this.#sql.number.get(teamId)?.[0];
  }

  /** In order of creation; `which` is a condition on its deletion. */
  rows(
    { after = null, limit, search = '', exact }: Omit<TeamPage, 'after'> & { readonly after: string | null | undefined },
    which = 'erasure = 0',
  ): TeamRow[] {
    let statement = this.#pages.get(which);
    if (statement === undefined) {
      statement = prepared(this.#parts.database, { page: tuples<TeamColumns>(pageOf(which)) }).page;
      this.#pages.set(which, statement);
    }
    const most = Number.isFinite(limit) ? limit : -1;
    return statement.all({ $after: after, $limit: most, $text: search, $exact: exact === true ? 1 : 0 }).map(rowOf);
  }

  /** In order of creation. */
  keys(no: number, nowMs: number): KeyRecord[] {
    return this.keyRows(no).map(([record, lastUsedAtMs]) => keyOf(record, lastUsedAtMs, nowMs));
  }

  keyRows(no: number): KeyColumns[] {
    return this.#sql.keys.all(no);
  }

  owner(digest: KeyDigest): KeyOwner | undefined {
    const [keyId, teamId, mode] = this.#sql.owner.get(digest) ?? [];
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
