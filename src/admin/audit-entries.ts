// Entries of the audit without a change of a team, key, glossary or tag: who was let into the
// console, and who was not, unless the store is away; and what commands leave.
import { auditIdsAlone } from '../domain/audit-entry.ts';
import type { AuditedSignIn } from '../domain/audit-entry.ts';
import type { ProvenPerson, SignInRefusal } from '../domain/operator.ts';
import { answered } from '../domain/store-unavailable.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Log } from '../ports/log.ts';
import type { OperationContext } from './operation-context.ts';
import { actorOf } from './operators.ts';
import type { KnownOperator } from './operators.ts';

const WINDOW_MS = 60_000;
/** Recorded within a minute: someone with many addresses must not fill the store. */
const REFUSALS_MAX = 100;
/** The name of an actor who is not known; no operator can have it. */
const UNKNOWN = '?';

interface SignInAuditOptions {
  readonly audit: AuditLog;
  readonly log: Log;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The wall clock. */
  readonly nowMs: () => number;
}

interface RefusedSignIn {
  readonly via: AuditedSignIn['via'];
  readonly refused: SignInRefusal;
  /** Whom the provider has named. */
  readonly person?: ProvenPerson | undefined;
}

export class SignInAudit {
  readonly #options: SignInAuditOptions;
  readonly #idAt = auditIdsAlone();
  #window = { fromMs: 0, refusals: 0 };

  constructor(options: SignInAuditOptions) {
    this.#options = options;
  }

  signedIn(operator: KnownOperator, address: string): Promise<void> {
    return this.#leave('sign_in', operator.name, address, { ...stateOf(operator), role: operator.role });
  }

  signedOut(operator: KnownOperator, address: string): Promise<void> {
    return this.#leave('sign_out', operator.name, address, stateOf(operator));
  }

  async refused({ via, refused, person }: RefusedSignIn, address: string): Promise<void> {
    if (!this.#hasRoom()) return;
    const subject = person === undefined ? {} : { subject: person.subject };
    await this.#leave('sign_in_refused', person?.name ?? UNKNOWN, address, { via, ...subject, refused });
  }

  #hasRoom(): boolean {
    const nowMs = this.#options.now();
    if (nowMs - this.#window.fromMs >= WINDOW_MS) this.#window = { fromMs: nowMs, refusals: 0 };
    return ++this.#window.refusals <= REFUSALS_MAX;
  }

  async #leave(action: 'sign_in' | 'sign_in_refused' | 'sign_out', name: string, address: string, after: AuditedSignIn): Promise<void> {
    const { audit, log, nowMs } = this.#options;
    const atMs = Math.floor(nowMs());
    const actor = actorOf('console', { name }, address);
    const of = { id: this.#idAt(atMs), atMs, teamId: undefined, keyId: undefined };
    const away = await audit.restore([{ ...of, actor, action, before: {}, after }]);
    if (away !== undefined) log.warn('the store did not take an entry of the audit', { action, actor, cause: away.cause });
  }
}

function stateOf({ by }: KnownOperator): AuditedSignIn {
  return by.kind === 'token' ? { via: 'token' } : { via: 'oidc', subject: by.person.subject };
}

/** The entry on which every gateway clears a team's cache, or all. Throws a `StoreError`. */
export async function auditClearedMemory(context: OperationContext, teamId: string | undefined, nowMs: number): Promise<void> {
  const newest = answered(await context.options.audit.page({ teamId: undefined, after: undefined, sinceMs: undefined, limit: 1 }));
  // Never before the newest entry, where gateways no longer look.
  await leave(context, 'clearMemory', Math.max(Math.floor(nowMs), newest[0]?.atMs ?? 0), teamId);
}

/** The entry of a clock that an operator vouched for, by that clock. Throws a `StoreError`. */
export async function auditAcceptedClock(context: OperationContext, nowMs: number): Promise<void> {
  await leave(context, 'acceptClock', nowMs, undefined);
}

async function leave(context: OperationContext, action: string, atMs: number, teamId: string | undefined): Promise<void> {
  const entry = { id: auditIdsAlone()(atMs), atMs, teamId, keyId: undefined, before: {}, after: {}, ...context.by({ id: action }) };
  answered(await context.options.audit.restore([entry]));
}
