// The audit as operators read it, and the entries of what changes no team or key.
import { auditIdsAlone } from '../domain/audit-entry.ts';
import type { AuditAction, AuditedPeriod, AuditEntry } from '../domain/audit-entry.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { AuditPage } from '../ports/audit-log.ts';
import { done, pageWithNext } from './admin-result.ts';
import type { AdminResult, Page } from './admin-result.ts';
import type { AuditFilter } from './audit-filter.ts';
import type { OperationContext } from './operation-context.ts';

/** With a filter: how much a page reads together, which holds the event loop for some milliseconds, and how much at most. */
const ENTRIES_CHECKED = { pieceSize: 100, checkedMax: 5000 } as const;

/** Of `AdminOperations`. */
export class AuditOperations {
  readonly #context: OperationContext;
  readonly #idAt = auditIdsAlone();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /**
   * Newest first. An unknown team has no entries; a deleted team keeps its entries. With a filter, those that fit; a page checks a
   * bounded number of entries.
   */
  async list(asked: AuditPage, filter?: AuditFilter): Promise<AdminResult<Page<AuditEntry>>> {
    const { audit } = this.#context.options;
    const read = (more: AuditPage) => audit.page(more);
    const idOf = ({ id }: AuditEntry): string => id;
    if (filter === undefined) return pageWithNext(asked, read, idOf);
    const { auditFits, pageOfDay } = await import('./audit-filter.ts');
    const page = pageOfDay(asked, filter);
    const fits = auditFits(filter);
    if (fits === undefined) return pageWithNext(page, read, idOf);
    const { filteredPage } = await import('./filtered-page.ts');
    return filteredPage(page, { read, idOf, fits, ...ENTRIES_CHECKED });
  }

  /** Leaves the audit entry on which every gateway clears its cached translations of a team, or of all teams. */
  async clearMemory(teamId: string | undefined, nowMs: number): Promise<AdminResult<undefined>> {
    const { audit } = this.#context.options;
    const newest = await audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 });
    if (isUnavailable(newest)) return newest;
    // Never before the newest entry, where gateways no longer look.
    const atMs = Math.max(Math.floor(nowMs), newest[0]?.atMs ?? 0);
    return this.#leave('clearMemory', atMs, { teamId });
  }

  /** Leaves the audit entry of a clock that an operator has vouched for, by that clock. */
  async acceptClock(nowMs: number): Promise<AdminResult<undefined>> {
    return this.#leave('acceptClock', nowMs);
  }

  /** Leaves the audit entry of a team whose period was put right (`store check --repair`). */
  async repaired(teamId: string, before: AuditedPeriod, after: AuditedPeriod, nowMs: number): Promise<AdminResult<undefined>> {
    return this.#leave('repairTeam', nowMs, { teamId, before, after });
  }

  async #leave(
    action: AuditAction,
    atMs: number,
    of: Partial<Pick<AuditEntry, 'teamId' | 'before' | 'after'>> = {},
  ): Promise<AdminResult<undefined>> {
    const id = this.#idAt(atMs);
    const { teamId, before = {}, after = {} } = of;
    const failed = await this.#context.options.audit.restore([
      { id, atMs, teamId, keyId: undefined, before, after, ...this.#context.by(action) },
    ]);
    return failed ?? done(undefined);
  }
}
