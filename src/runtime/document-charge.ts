// What a document costs: its reservations, its key's validity, its charge, and its removal.
import { keyRevoked, STORE_UNAVAILABLE, TAG_DISABLED } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { DocumentHold, DocumentRecord, DocumentStore, DueDocument } from '../ports/documents.ts';
import type { Admission, CheckedCaller, Ledger, Resolution, Settlements, Verdict } from '../ports/ledger.ts';

interface RequestedHold extends DocumentHold {
  readonly document: DocumentRecord;
  readonly leaseMs: number;
}

/** The route's scope. */
const SCOPE = 'translate:document';

/** The same id again has the same answer, so that an interrupted attempt can be repeated. */
export function reserveHold(
  ledger: Pick<Ledger, 'admit'>,
  { document, requestId, characters, leaseMs }: RequestedHold,
): Promise<Admission> {
  const { teamId, keyId, address, tag } = document;
  return new Promise((answered, failed) => {
    ledger.admit({
      requestId,
      teamId,
      keyId,
      characters: 0,
      charged: characters,
      reserve: true,
      leaseMs,
      glossary: undefined,
      address,
      tag,
      scope: SCOPE,
      answered,
      failed,
    });
  });
}

/** Releases what is reserved and uncharged. Whether the ledger has answered for all of it. */
export async function releaseHolds(ledger: Pick<Ledger, 'resolve'>, teamId: string, holds: readonly DocumentHold[]): Promise<boolean> {
  for (const hold of holds) if (isUnavailable(await settled(ledger, teamId, hold, 'release'))) return false;
  return true;
}

function settled(
  ledger: Pick<Ledger, 'resolve'>,
  teamId: string,
  { requestId }: DocumentHold,
  verdict: Verdict,
  characters?: number,
): Promise<Resolution> {
  return new Promise((answered, failed) => ledger.resolve({ teamId, requestId, verdict, characters, answered, failed }));
}

/** Why the document's key may do no more for it, judged as at a request. */
export async function keyRefusal(ledger: Pick<Ledger, 'check'>, document: DocumentRecord): Promise<Refusal | undefined> {
  const { documentId: requestId, teamId, keyId, address, tag } = document;
  const checked = await new Promise<CheckedCaller>((answered, failed) =>
    ledger.check({ requestId, teamId, keyId, address, tag, scope: SCOPE, answered, failed }),
  );
  // A rate is a reason to wait for requests, and a part of a document is none.
  if (checked.kind === 'admitted' || checked.kind === 'rate_limited') return undefined;
  return checked.kind === 'unavailable' ? STORE_UNAVAILABLE : refusalOf(checked);
}

const NO_SCOPE = refuse('forbidden', "The key's scopes no longer cover documents.");
const NO_KEY = refuse('unauthorized', 'The key can no longer be used.');

/** Why a document ends in an error. */
export type Failure = Pick<Refusal['problem'], 'code' | 'detail'>;

type RefusedAdmission = Exclude<Admission, { readonly kind: 'admitted' | 'unavailable' }>;

export function failureOf(admission: RefusedAdmission): Failure {
  if (admission.kind === 'quota_exceeded') {
    return { code: 'quota_exceeded', detail: 'The characters left in this period do not cover the document.' };
  }
  return admission.kind === 'credit_exhausted'
    ? { code: 'credit_exhausted', detail: 'The prepaid balance does not cover the document.' }
    : refusalOf(admission).problem;
}

function refusalOf(admission: RefusedAdmission): Refusal {
  if (admission.kind === 'key_revoked') return keyRevoked(admission.reason);
  if (admission.kind === 'scope_missing' || admission.kind === 'scope_required') return NO_SCOPE;
  return admission.kind === 'tag_disabled' ? TAG_DISABLED : NO_KEY;
}

/** What is not open any more was charged by whoever worked on the document before. */
export async function charge(ledger: Pick<Ledger, 'resolve'>, document: DocumentRecord): Promise<StoreUnavailable | undefined> {
  const hold = document.holds.at(-1);
  const resolution = hold && (await settled(ledger, document.teamId, hold, 'commit', document.billed));
  return isUnavailable(resolution) ? resolution : undefined;
}

interface RemovalOptions {
  readonly documents: DocumentStore;
  readonly ledger: Pick<Ledger, 'resolve'>;
  readonly settlements?: Pick<Settlements, 'releaseUnknown'>;
  /** Those that stay. */
  readonly spares?: (document: DocumentRecord) => boolean;
}

/** If this process dies during a removal, a worker goes on so much later. */
const REMOVED_LATER_MS = 2000;
const LEDGER_AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };

/** With its files; its reservation is released. From the first step on nobody finds it. */
export async function removeDocument(
  due: DueDocument,
  { documents, ledger, settlements, spares }: RemovalOptions,
): Promise<'removed' | 'gone' | StoreUnavailable> {
  const marked = await documents.change(due, (known) => (spares?.(known) === true ? undefined : { ...known, isRemoved: true }));
  if (isUnavailable(marked)) return marked;
  if (marked === undefined) return 'gone';
  // Before, so that nothing stays reserved if this process ends; after, for what came meanwhile.
  if (!(await releaseHolds(ledger, marked.teamId, marked.holds))) return LEDGER_AWAY;
  const removed = await documents.remove(marked);
  if (isUnavailable(removed)) return removed;
  if (removed === undefined) return 'gone';
  for (const { requestId } of removed.holds) settlements?.releaseUnknown(removed.teamId, requestId);
  return 'removed';
}

/** For a caller: a worker finishes it should this process die, or the store fail. */
export async function removeForCaller(due: DueDocument, options: RemovalOptions): Promise<boolean | StoreUnavailable> {
  const failed = await options.documents.yield({ ...due, worker: '' }, REMOVED_LATER_MS);
  if (failed !== undefined) return failed;
  const removal = await removeDocument(due, options);
  return isUnavailable(removal) ? removal : removal === 'removed';
}
