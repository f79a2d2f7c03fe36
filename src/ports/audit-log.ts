// The audit log: changes made by operators, stored alongside the data they changed.
import type { AuditEntry } from '../domain/audit-entry.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface AuditPage {
  /** `undefined` for all teams, including deleted ones. */
  readonly teamId: string | undefined;
  /** Of the previous page's last entry; `undefined` for the first. It may have been deleted. */
  readonly after: string | undefined;
  /** Only entries from this moment on. */
  readonly sinceMs: number | undefined;
  readonly limit: number;
}

/** Retained for `history.days`. Entries are written by registry operations with a `by`. */
export interface AuditLog {
  /** Newest first. */
  page(page: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable>;
  /** Of a deleted team: names, labels, key displays and reasons go. May be run again. */
  forgetNames(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Inserts entries of another store. Those whose id exists stay unchanged. */
  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined>;
}
