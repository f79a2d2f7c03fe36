// The audit log: changes made by operators, stored alongside the data they changed.
import type { AuditEntry } from '../domain/audit-entry.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface AuditPage {
  /** `undefined` for all teams, including deleted ones. */
  readonly teamId: string | undefined;
  /** The id of the last entry on the previous page; `undefined` for the first page. That entry may have been deleted since. */
  readonly after: string | undefined;
  /** Only entries from this moment on. */
  readonly sinceMs: number | undefined;
  readonly limit: number;
}

/** Retained for `history.days`. Entries are written by the registry operations that are given a `by`. */
export interface AuditLog {
  /** Newest first. */
  page(page: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable>;
  /** For a deleted team: strips names, labels, key displays and reasons from its entries. Can be run again after an interruption. */
  forgetNames(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Inserts entries copied from another store. An entry whose id already exists is left unchanged. */
  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined>;
}
