// What a document asks of the ledger: its reservations, its key's validity, its charge, and its end.
import { keyRevoked, STORE_UNAVAILABLE, TAG_DISABLED } from '../../domain/refusals.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import type { DocumentHold, DocumentRecord, DocumentStore, DueDocument } from '../../ports/documents.ts';
import type { Admission, Callbacks, CheckedCaller, Ledger, Resolution, Verdict } from '../../ports/ledger.ts';

type Releasing = Pick<Ledger, 'resolve'>;

/** The route's scope. */
const SCOPE = 'translate:document';

function asked<Answer>(ask: (callbacks: Callbacks<Answer>) => void): Promise<Answer> {
  return new Promise((answered, failed) => ask({ answered, failed }));
}

/** The same id again has the same answer, so that an interrupted attempt can be repeated. */
export function reserveHold(
  ledger: Pick<Ledger, 'admit'>,
  { teamId, keyId, address, tag }: DocumentRecord,
  { requestId, characters: charged }: DocumentHold,
  leaseMs: number,
): Promise<Admission> {
  const request = { requestId, teamId, keyId, address, tag, scope: SCOPE, characters: 0, charged, reserve: true, leaseMs };
  return asked((callbacks) => ledger.admit({ ...request, glossary: undefined, ...callbacks }));
}

/** Releases what is reserved and uncharged. Whether the ledger has answered for all of it. */
export async function releaseHolds(ledger: Releasing, teamId: string, holds: readonly DocumentHold[]): Promise<boolean> {
  for (const hold of holds) if (isUnavailable(await settled(ledger, teamId, hold, 'release'))) return false;
  return true;
}

/** Of a document that is gone, or is to go; of any other, the hold stays. Whether store and ledger have answered. */
export async function releaseOfGone(
  { teamId, documentId }: DueDocument,
  hold: DocumentHold,
  { documents, ledger }: { readonly documents: Pick<DocumentStore, 'find'>; readonly ledger: Releasing },
): Promise<boolean> {
  const known = await documents.find(teamId, documentId);
  if (isUnavailable(known)) return false;
  return (known !== undefined && known.isRemoved !== true) || releaseHolds(ledger, teamId, [hold]);
}

/** What is not open any more was charged by whoever worked on the document before. */
export async function charge(ledger: Releasing, { teamId, holds, billed }: DocumentRecord): Promise<StoreUnavailable | undefined> {
  const hold = holds.at(-1);
  const resolution = hold && (await settled(ledger, teamId, hold, 'commit', billed));
  return isUnavailable(resolution) ? resolution : undefined;
}

function settled(ledger: Releasing, teamId: string, hold: DocumentHold, verdict: Verdict, characters?: number): Promise<Resolution> {
  return asked((callbacks) => ledger.resolve({ teamId, requestId: hold.requestId, verdict, characters, ...callbacks }));
}

/** Why the document's key may do no more for it, judged as at a request. */
export async function keyRefusal(ledger: Pick<Ledger, 'check'>, document: DocumentRecord): Promise<Refusal | undefined> {
  const { documentId: requestId, teamId, keyId, address, tag } = document;
  const caller = { requestId, teamId, keyId, address, tag, scope: SCOPE };
  const checked = await asked<CheckedCaller>((callbacks) => ledger.check({ ...caller, ...callbacks }));
  // A rate is a reason to wait for requests, and a part of a document is none.
  if (checked.kind === 'admitted' || checked.kind === 'rate_limited') return undefined;
  return checked.kind === 'unavailable' ? STORE_UNAVAILABLE : refusalOf(checked);
}

const NO_SCOPE = refuse('forbidden', "The key's scopes no longer cover documents.");
const NO_KEY = refuse('unauthorized', 'The key can no longer be used.');

type CallerRefused = Exclude<Admission, { readonly kind: 'admitted' | 'unavailable' }>;

function refusalOf(admission: CallerRefused): Refusal {
  if (admission.kind === 'key_revoked') return keyRevoked(admission.reason);
  if (admission.kind === 'scope_missing' || admission.kind === 'scope_required') return NO_SCOPE;
  return admission.kind === 'tag_disabled' ? TAG_DISABLED : NO_KEY;
}

/** Why a document ends in an error. */
export type Failure = Pick<Refusal['problem'], 'code' | 'detail'>;

export function failureOf(admission: CallerRefused): Failure {
  const { kind } = admission;
  if (kind === 'quota_exceeded') return { code: kind, detail: 'The characters left in this period do not cover the document.' };
  if (kind === 'credit_exhausted') return { code: kind, detail: 'The prepaid balance does not cover the document.' };
  return refusalOf(admission).problem;
}

export function isEnded({ state }: DocumentRecord): boolean {
  return state === 'done' || state === 'error';
}

interface Removal {
  readonly documents: DocumentStore;
  readonly ledger: Releasing;
}

/** If this process dies during a removal for a caller, a worker goes on so much later. */
const REMOVED_LATER_MS = 2000;
const LEDGER_AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };

/**
 * With its files; what is reserved for it is released. From the first step on nobody finds it. Not
 * `unlessTranslated` and it is. Whether there was one.
 */
export async function removeDocument(
  due: DueDocument,
  { documents, ledger }: Removal,
  unlessTranslated = false,
): Promise<boolean | StoreUnavailable> {
  const failed = await documents.yield({ ...due, worker: '' }, REMOVED_LATER_MS);
  if (failed !== undefined) return failed;
  const marked = await documents.change(due, (known) =>
    unlessTranslated && known.resultId !== undefined ? undefined : { ...known, isRemoved: true },
  );
  if (isUnavailable(marked)) return marked;
  if (marked === undefined && unlessTranslated) return false;
  // Before, so that nothing stays reserved if this process ends.
  if (marked !== undefined && !(await releaseHolds(ledger, due.teamId, marked.holds))) return LEDGER_AWAY;
  const removed = await documents.remove(due);
  return isUnavailable(removed) ? removed : removed !== undefined;
}
