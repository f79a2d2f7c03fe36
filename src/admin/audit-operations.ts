// The audit's entries of what changes no team or key.
import { auditIdsAlone } from '../domain/audit-entry.ts';
import type { AuditAction, AuditEntry } from '../domain/audit-entry.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { done } from './operation.ts';
import type { Result } from './operation.ts';
import type { OperationContext } from './operation-context.ts';

export class AuditOperations {
  readonly #context: OperationContext;
  readonly #idAt = auditIdsAlone();

  constructor(context: OperationContext) {
    this.#context = context;
  }

  /** Leaves the audit entry on which every gateway clears its cached translations of a team, or of all teams. */
  async clearMemory(teamId: string | undefined, nowMs: number): Promise<Result<undefined>> {
    const { audit } = this.#context.options;
    const newest = await audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 });
    if (isUnavailable(newest)) return newest;
    // Never before the newest entry, where gateways no longer look.
    const atMs = Math.max(Math.floor(nowMs), newest[0]?.atMs ?? 0);
    return this.#leave('clearMemory', atMs, { teamId });
  }

  /** Leaves the audit entry of a clock that an operator has vouched for, by that clock. */
  async acceptClock(nowMs: number): Promise<Result<undefined>> {
    return this.#leave('acceptClock', nowMs);
  }

  async #leave(
    action: AuditAction,
    atMs: number,
    of: Partial<Pick<AuditEntry, 'teamId' | 'before' | 'after'>> = {},
  ): Promise<Result<undefined>> {
    const id = this.#idAt(atMs);
    const { teamId, before = {}, after = {} } = of;
    const failed = await this.#context.options.audit.restore([
      { id, atMs, teamId, keyId: undefined, before, after, ...this.#context.by(action) },
    ]);
    return failed ?? done(undefined);
  }
}
