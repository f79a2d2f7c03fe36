// The audit as rows: an entry is written in the transaction of the change that it tells of.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { AuditEntry, Audited } from '../../domain/audit-entry.ts';
import { idBefore, nextId } from '../../domain/audit-entry.ts';
import type { AuditDifference, AuditRecord } from '../../domain/audit-entry.ts';

export interface AuditedChange extends AuditDifference {
  readonly teamId?: string;
  readonly keyId?: string;
}

export class AuditRows {
  readonly #last: StatementSync;
  readonly #insert: StatementSync;
  readonly #oldest: StatementSync;
  readonly #forget: StatementSync;
  readonly #keptMs: number;

  constructor(database: DatabaseSync, keptMs: number) {
    this.#keptMs = keptMs;
    this.#last = database.prepare('SELECT max(id) AS id FROM audit WHERE id < ?');
    this.#insert = database.prepare('INSERT OR IGNORE INTO audit (id, team_id, record) VALUES (?, ?, ?)');
    this.#oldest = database.prepare('SELECT min(id) AS id FROM audit');
    this.#forget = database.prepare('DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE id < ? ORDER BY id LIMIT ?)');
  }

  /** Inside the transaction of the change. */
  add({ actor, action, reason }: Audited, { teamId, keyId, before, after }: AuditedChange, nowMs: number): void {
    const last = this.#last.get(idBefore(nowMs + 1))?.['id'] as string | null | undefined;
    const record: AuditRecord = { actor, action, ...(reason === undefined ? {} : { reason }), keyId, before, after };
    this.put(nextId(nowMs, last ?? undefined), teamId, record);
  }

  put(id: AuditEntry['id'], teamId: AuditEntry['teamId'], record: AuditRecord): void {
    this.#insert.run(id, teamId ?? null, JSON.stringify(record));
  }

  /** Entries with lesser ids are too old. */
  keptFrom(nowMs: number): string {
    return idBefore(nowMs - this.#keptMs);
  }

  isDue(nowMs: number): boolean {
    const oldest = this.#oldest.get()?.['id'];
    return typeof oldest === 'string' && oldest < this.keptFrom(nowMs);
  }

  /** Forgets what is too old, `most` entries at most. */
  clear(nowMs: number, most: number): void {
    this.#forget.run(this.keptFrom(nowMs), most);
  }
}
