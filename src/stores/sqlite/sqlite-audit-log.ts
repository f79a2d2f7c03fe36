// The audit log as rows: entries are written in the transaction of the change they record, and read in pages, newest first.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { auditEntry, idBefore, momentOf, withoutNames } from '../../domain/audit-entry.ts';
import type { AuditedChange, AuditEntry, Audited, AuditRecord } from '../../domain/audit-entry.ts';
import type { AuditLog, AuditPage } from '../../ports/audit-log.ts';
import type { GroupCommit } from './group-commit.ts';
import { prepared, objects, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

/** Entries changed per transaction, which takes a few milliseconds. */
const PIECE = 1000;
/** Sorts after every id. */
const END = ':';

interface AuditRow {
  readonly id: string;
  readonly team_id: string | null;
  /** JSON. */
  readonly record: string;
}

const pageOf = (where: string) =>
  objects<AuditRow>(`SELECT id, team_id, record FROM audit WHERE ${where} id >= ? AND id < ? ORDER BY id DESC LIMIT ?`);

const SQL = {
  last: tuples<[string | null]>('SELECT max(id) FROM audit WHERE id < ?'),
  insert: 'INSERT OR IGNORE INTO audit (id, team_id, record) VALUES (?, ?, ?)',
  oldest: tuples<[string | null]>('SELECT min(id) FROM audit'),
  forget: 'DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id < ? ORDER BY id LIMIT ?)',
  page: pageOf(''),
  pageOfTeam: pageOf('team_id = ? AND'),
  ofTeam: objects<AuditRow>('SELECT id, record FROM audit WHERE team_id = ? AND id > ? ORDER BY id LIMIT ?'),
  replace: 'UPDATE audit SET record = ? WHERE id = ?',
};

/** Entries are added within other transactions; each page that operators read is an operation of its own. */
export class SqliteAuditLog implements AuditLog {
  readonly #group: GroupCommit;
  readonly #keptMs: number;
  readonly #sql: Statements<typeof SQL>;

  constructor(database: DatabaseSync, group: GroupCommit, keptMs: number) {
    this.#group = group;
    this.#keptMs = keptMs;
    this.#sql = prepared(database, SQL);
  }

  /** Call it within the transaction of the change. */
  add(by: Audited, change: AuditedChange, nowMs: number): void {
    const [last] = this.#sql.last.get(idBefore(nowMs + 1))!;
    this.#put(auditEntry(by, change, nowMs, last ?? undefined));
  }

  #put({ id, atMs: _atMs, teamId, ...record }: AuditEntry): void {
    this.#sql.insert.run(id, teamId ?? null, JSON.stringify(record));
  }

  /** Entries with smaller ids have expired. */
  #keptFrom(nowMs: number): string {
    return idBefore(nowMs - this.#keptMs);
  }

  isDue(nowMs: number): boolean {
    const [oldest] = this.#sql.oldest.get()!;
    return oldest !== null && oldest < this.#keptFrom(nowMs);
  }

  /** Deletes expired entries, at most `most`. */
  clear(nowMs: number, most: number): void {
    this.#sql.forget.run(this.#keptFrom(nowMs), most);
  }

  page({ teamId, after = END, sinceMs, limit }: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable> {
    const { page, pageOfTeam } = this.#sql;
    return this.#group.run((nowMs) => {
      const from = idBefore(Math.max(sinceMs ?? 0, nowMs - this.#keptMs));
      const found = teamId === undefined ? page.all(from, after, limit) : pageOfTeam.all(teamId, from, after, limit);
      return found.map(entryOf);
    });
  }

  async forgetNames(teamId: string): Promise<StoreUnavailable | undefined> {
    for (let last: string | undefined = ''; last !== undefined;) {
      const after: string = last;
      const next = await this.#group.run(() => ({ last: this.#forgetSome(teamId, after) }));
      if ('kind' in next) return next;
      ({ last } = next);
    }
    return undefined;
  }

  /** Returns the last entry processed, while there may be more. */
  #forgetSome(teamId: string, after: string): string | undefined {
    const { ofTeam, replace } = this.#sql;
    const found = ofTeam.all(teamId, after, PIECE);
    for (const { id, record } of found) replace.run(JSON.stringify(withoutNames(JSON.parse(record) as AuditRecord)), id);
    return found.length < PIECE ? undefined : found.at(-1)!.id;
  }

  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined> {
    return this.#group.run(() => {
      for (const entry of entries) this.#put(entry);
      return undefined;
    });
  }
}

function entryOf({ id, team_id, record }: AuditRow): AuditEntry {
  const { keyId, ...rest } = JSON.parse(record) as AuditRecord;
  return { id, atMs: momentOf(id), teamId: team_id ?? undefined, keyId, ...rest };
}
