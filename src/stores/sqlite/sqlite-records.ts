// The record space in SQLite: a table for all records; a change is one group-commit operation.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { DecideChange, NewBlob, RecordName, RecordSpace, RecordTable } from '../../ports/record-space.ts';
import { NOT_ERASED } from './sqlite-schema.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import { unavailable } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';

type Parts = Pick<StoreParts, 'database' | 'path' | 'group' | 'teams' | 'blobs' | 'audit'>;

const SQL = {
  one: tuples<[value: string]>('SELECT value FROM records WHERE team = ? AND kind = ? AND id = ?'),
  list: tuples<[id: string, value: string]>('SELECT id, value FROM records WHERE team = ? AND kind = ?'),
  group: tuples<[teamId: string]>(`SELECT t.team_id FROM records r JOIN teams t ON t.no = r.team AND t.erasure = ${NOT_ERASED}
    WHERE r.kind = ? AND r.id = ?`),
  put: 'INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
  remove: 'DELETE FROM records WHERE team = ? AND kind = ? AND id = ?',
};

export class SqliteRecords implements RecordSpace {
  readonly #parts: Parts;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#sql = prepared(parts.database, SQL);
  }

  read(group: string, names: readonly RecordName[]): Promise<readonly (string | undefined)[] | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const team = this.#parts.teams.number(group);
      return names.map((name) => (team === undefined ? undefined : this.#value(team, name)));
    });
  }

  list(group: string, table: RecordTable): Promise<ReadonlyMap<string, string> | StoreUnavailable> {
    return this.#parts.group.run(() => {
      const team = this.#parts.teams.number(group);
      return new Map(team === undefined ? [] : this.#sql.list.all(team, table));
    });
  }

  async change<Result>(
    group: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
  ): Promise<Result | undefined | StoreUnavailable> {
    const { group: commits, teams, blobs, audit, path } = this.#parts;
    let detaches = false;
    const answer = await commits.run((nowMs): Result | undefined | StoreUnavailable => {
      const team = teams.number(group);
      if (team === undefined) return undefined;
      const values = names.map((name) => this.#value(team, name));
      const change = decide(values, { nowMs, limits: teams.get(team).team.limits });
      const { result, put = [], remove = [], attach = [], detach = [] } = change;
      if (!blobs.arePrepared(team, attach, nowMs)) return unavailable(path, 'busy');
      for (const { table, id, value } of put) this.#sql.put.run(team, table, id, value);
      for (const { table, id } of remove) this.#sql.remove.run(team, table, id);
      blobs.attach(team, attach);
      blobs.detach(team, detach);
      detaches = detach.length > 0;
      if (change.audit !== undefined) {
        const { by, ...difference } = change.audit;
        audit.add(by, { teamId: group, ...difference }, nowMs);
      }
      return result;
    });
    if (detaches) void blobs.clear();
    return answer;
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

  #value(team: number, { table, id }: RecordName): string | undefined {
    return this.#sql.one.get(team, table, id)?.[0];
  }
}
