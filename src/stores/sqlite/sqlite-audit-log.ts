// The audit as operators read it: pages of rows, newest first, each in one operation of the group commit.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AuditEntry } from '../../domain/audit-entry.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import { idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditRecord } from '../../domain/audit-entry.ts';
import type { AuditRows } from './audit-rows.ts';
import type { SqlRow } from './columns.ts';
import type { GroupCommit } from './group-commit.ts';

/** Entries that are changed in one transaction: some milliseconds. */
const PIECE = 1000;
/** Greater than every id. */
const END = ':';

export interface SqliteAuditParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly group: GroupCommit;
  readonly rows: AuditRows;
}

export class SqliteAuditLog implements AuditLog {
  readonly #parts: SqliteAuditParts;
  readonly #page: StatementSync;
  readonly #pageOfTeam: StatementSync;
  readonly #ofTeam: StatementSync;
  readonly #replace: StatementSync;

  constructor(parts: SqliteAuditParts) {
    this.#parts = parts;
    const { database } = parts;
    const page = (where: string): StatementSync =>
      database.prepare(`SELECT id, team_id, record FROM audit WHERE ${where} id >= ? AND id < ? ORDER BY id DESC LIMIT ?`);
    this.#page = page('');
    this.#pageOfTeam = page('team_id = ? AND');
    this.#ofTeam = database.prepare('SELECT id, record FROM audit WHERE team_id = ? AND id > ? ORDER BY id LIMIT ?');
    this.#replace = database.prepare('UPDATE audit SET record = ? WHERE id = ?');
  }

  page({ teamId, after = END, sinceMs, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> {
    const { group, clock, rows } = this.#parts;
    return group.run(() => {
      const kept = rows.keptFrom(clock.nowMs());
      const wanted = sinceMs === undefined ? kept : idBefore(sinceMs);
      const from = wanted > kept ? wanted : kept;
      const found = teamId === undefined ? this.#page.all(from, after, limit) : this.#pageOfTeam.all(teamId, from, after, limit);
      return found.map(entryOf);
    });
  }

  async forgetNames(teamId: string): Promise<StoreUnavailable | undefined> {
    let last: string | undefined = '';
    while (last !== undefined) {
      const after: string = last;
      const next: { readonly last: string | undefined } | StoreUnavailable = await this.#parts.group.run(() =>
        this.#forgetSome(teamId, after),
      );
      if ('kind' in next) return next;
      last = next.last;
    }
    return undefined;
  }

  /** Tells the last entry that was gone through, while there may be more. */
  #forgetSome(teamId: string, after: string): { readonly last: string | undefined } {
    const found = this.#ofTeam.all(teamId, after, PIECE);
    for (const { id, record } of found) {
      this.#replace.run(JSON.stringify(withoutNames(JSON.parse(String(record)) as AuditRecord)), String(id));
    }
    return { last: found.length < PIECE ? undefined : String(found.at(-1)!['id']) };
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => {
      for (const { id, atMs: _atMs, teamId, ...record } of entries) this.#parts.rows.put(id, teamId, record);
      return undefined;
    });
  }
}

function entryOf({ id, team_id, record }: SqlRow): AuditEntry {
  const { keyId, ...rest } = JSON.parse(String(record)) as AuditRecord;
  const name = String(id);
  return { id: name, atMs: momentOf(name), teamId: team_id === null ? undefined : String(team_id), keyId, ...rest };
}
