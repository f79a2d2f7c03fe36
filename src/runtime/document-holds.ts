// What is reserved for a document in the ledger: exchanged for what was counted, and released if the document is not charged.
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentHold, DocumentRecord } from '../ports/documents.ts';
import type { Admission, Ledger, Resolution, Verdict } from '../ports/ledger.ts';

interface WantedHold extends DocumentHold {
  readonly document: DocumentRecord;
  readonly leaseMs: number;
}

/** The route's scope. */
const SCOPE = 'translate:document';

/** The same id again has the same answer, so that an interrupted attempt can be repeated. */
export function reserveHold(ledger: Pick<Ledger, 'admit'>, { document, requestId, characters, leaseMs }: WantedHold): Promise<Admission> {
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

function resolve(ledger: Pick<Ledger, 'resolve'>, teamId: string, requestId: string, verdict: Verdict): Promise<Resolution> {
  return new Promise((answered, failed) => ledger.resolve({ teamId, requestId, verdict, answered, failed }));
}

/** Releases what is reserved, except for what was charged already. Whether the ledger has answered for all of it. */
export async function releaseHolds(
  ledger: Pick<Ledger, 'resolve'>,
  { teamId }: Pick<DocumentRecord, 'teamId'>,
  holds: readonly DocumentHold[],
): Promise<boolean> {
  for (const { requestId } of holds) if (isUnavailable(await resolve(ledger, teamId, requestId, 'release'))) return false;
  return true;
}
