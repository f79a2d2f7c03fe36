// What operators have changed, as a store keeps it beside what they changed.
import type { AuditEntry } from '../domain/audit-entry.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';

export interface AuditPage {
  /** `undefined` for all teams, those that are gone included. */
  readonly teamId: string | undefined;
  /** The id of the last entry of the page before; `undefined` for the first page. It may be forgotten by now. */
  readonly after: string | undefined;
  /** Only entries from this moment on. */
  readonly sinceMs: number | undefined;
  readonly limit: number;
}

/** Kept for `history.days`. Entries are written by the operations of the registry that are told who makes a change. */
export interface AuditLog {
  /** Newest first. */
  page(page: AuditPage): Promise<readonly AuditEntry[] | StoreUnavailable>;
  /** For a team that is erased: takes the names, labels, displays of keys and reasons out of its entries. Run again, it goes on. */
  forgetNames(teamId: string): Promise<StoreUnavailable | undefined>;
  /** Entries as another store has them, for copying; one whose id is there already is left as it is. */
  restore(entries: readonly AuditEntry[]): Promise<StoreUnavailable | undefined>;
}
