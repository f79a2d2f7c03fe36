// The record space in SQLite: a table for all records; a change is one group-commit operation.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import type { DecideChange, GroupPeriod, IndexPage, NewBlob, RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';
import { securely } from './open-database.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { looked, unavailable } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'path' | 'group' | 'work' | 'teams' | 'keys' | 'blobs' | 'audit' | 'events'>;

/** Of a table whose rows belong to teams, or of the shared one. */
const sqlOf = (table: string, ofTeam: string, values: string) => ({
  one: tuples<[value: string]>(`SELECT value FROM ${table} WHERE ${ofTeam} kind = ? AND id = ?`),
  list: tuples<[id: string, value: string]>(`SELECT id, value FROM ${table} WHERE ${ofTeam} kind = ?`),
  page: tuples<[id: string]>(`SELECT id FROM ${table} WHERE ${ofTeam} kind = ? AND id >= ? AND id < ? ORDER BY id LIMIT ?`),
  put: `INSERT OR REPLACE INTO ${table} VALUES (${values})`,
  remove: `DELETE FROM ${table} WHERE ${ofTeam} kind = ? AND id = ?`,
});
const OF_TEAMS = sqlOf('records', 'team = ? AND', '?, ?, ?, ?');
const SHARED = sqlOf('shared_records', '', '?, ?, ?');
const SQL = {
  group: tuples<[teamId: string]>(`SELECT t.team_id FROM records r JOIN teams t ON t.no = r.team AND t.erasure = ${NOT_ERASED}
    WHERE r.kind = ? AND r.id = ?`),
  period: tuples<[number: number, startMs: number, endMs: number]>(`SELECT b.period_no, p.start_ms, p.end_ms FROM books b
    JOIN periods p ON p.team = b.team AND p.no = b.period_no WHERE b.team = ?`),
};

const OF_NO_TEAM = { limits: undefined, period: undefined };

/** A group's statements, and the arguments that come first in each. */
interface Place {
  readonly sql: Statements<typeof OF_TEAMS>;
  readonly own: readonly number[];
  readonly team: number | undefined;
}

export class SqliteRecords implements RecordSpace {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;
  readonly #ofTeams: Statements<typeof OF_TEAMS>;
  readonly #shared: Place;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
    this.#ofTeams = prepared(parts.database, OF_TEAMS);
    this.#shared = { sql: prepared(parts.database, SHARED), own: [], team: undefined };
  }

  read(group: string, names: readonly RecordName[]): Promise<readonly (string | undefined)[] | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const place = this.#place(group);
      return names.map((name) => place && valueAt(place, name));
    });
  }

  list(group: string, table: RecordTable): Promise<ReadonlyMap<string, string> | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const place = this.#place(group);
      return new Map(place?.sql.list.all(...place.own, table));
    });
  }

  /** Sees what is committed, and needs no lock: the janitor looks often. */
  async page(group: string, { index, from, below, limit }: IndexPage): Promise<readonly string[] | StoreUnavailable> {
    return looked(this.#parts.path, () => {
      const place = this.#place(group);
      return place?.sql.page.all(...place.own, index, from, below, limit).map(([id]) => id) ?? [];
    });
  }

  async change<Result>(
    group: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined | StoreUnavailable> {
    const { database, teams, keys, work, blobs, audit, events, path } = this.#parts;
    let detaches = false;
    const answer = await this.#run(keyId, (nowMs): Result | undefined | StoreUnavailable => {
      // Holds of a key are recounted: leases that have not expired, in the current period.
      if (keyId !== undefined) work.current(group, nowMs);
      const place = this.#place(group);
      if (place === undefined) return undefined;
      const { sql, own, team } = place;
      const values = names.map((name) => valueAt(place, name));
      const change = decide(values, {
        nowMs,
        ...(team === undefined ? OF_NO_TEAM : { limits: teams.get(team).team.limits, period: this.#period(team) }),
        key: team === undefined || keyId === undefined ? undefined : keys.get(keyId, team),
      });
      const { result, put = [], remove = [], index = [], unindex = [], attach = [], detach = [] } = change;
      const removed = [...remove.map(({ table, id }) => [table, id] as const), ...unindex.map((entry) => [entry.index, entry.id] as const)];
      if (team !== undefined && !blobs.arePrepared(team, attach, nowMs)) return unavailable(path, 'busy');
      // It may be about a team that is being deleted.
      if (removed.length > 0) securely(database, () => removed.forEach(([kind, id]) => sql.remove.run(...own, kind, id)));
      for (const { table, id, value } of put) sql.put.run(...own, table, id, value);
      for (const entry of index) sql.put.run(...own, entry.index, entry.id, '');
      if (team !== undefined) {
        blobs.attach(team, attach);
        blobs.detach(team, detach);
      }
      detaches = detach.length > 0;
      if (team !== undefined && change.key !== undefined) keys.write(team, change.key, nowMs);
      if (change.audit !== undefined) {
        const { by, ...difference } = change.audit;
        audit.add(by, { teamId: group, ...(keyId === undefined ? {} : { keyId }), ...difference }, nowMs);
      }
      if (change.event !== undefined) events?.keepNew(change.event, group, nowMs);
      return result;
    });
    if (detaches) void blobs.clear();
    return answer;
  }

  /** The ledger caches keys, and their counts are written first. */
  #run<T>(keyId: string | undefined, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
    return keyId === undefined ? this.#parts.group.run(work) : this.#parts.work.change(`key ${keyId}`, work);
  }

  teamOf(keyId: string): Promise<string | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#parts.keys.get(keyId)?.teamId);
  }

  groupOf({ table, id }: RecordName): Promise<string | undefined | StoreUnavailable> {
    return this.#parts.group.run(() => this.#sql.group.get(table, id)?.[0]);
  }

  prepare(group: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined> {
    return this.#parts.blobs.prepare(group, blobs);
  }

  abandon(group: string, blobs: readonly NewBlob[]): Promise<void> {
    return this.#parts.blobs.abandon(group, blobs);
  }

  readBlob(group: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    return this.#parts.blobs.read(group, blobId);
  }

  #period(team: number): GroupPeriod {
    const [number, startMs, endMs] = this.#sql.period.get(team)!;
    return { number, startMs, endMs };
  }

  #place(group: string): Place | undefined {
    if (group === SHARED_RECORDS) return this.#shared;
    const team = this.#parts.teams.number(group);
    return team === undefined ? undefined : { sql: this.#ofTeams, own: [team], team };
  }
}

function valueAt({ sql, own }: Place, { table, id }: RecordName): string | undefined {
  return sql.one.get(...own, table, id)?.[0];
}
