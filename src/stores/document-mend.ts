// Mends what a check has found wrong with documents, while gateways may use the store.
import { isUnavailable, storeErrorOf } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentFolder } from '../ports/documents.ts';
import type { Ledger } from '../ports/ledger.ts';
import type { DocumentMend } from './document-check.ts';
import type { RecordDocuments } from './records/record-documents.ts';

interface MendParts {
  readonly documents: RecordDocuments;
  readonly ledger: Pick<Ledger, 'resolve'>;
  readonly folder: DocumentFolder | undefined;
}

/** Rejects with a `StoreError` if the store does not answer; what was mended until then stays so. */
export async function mendDocuments(mends: readonly DocumentMend[], parts: MendParts): Promise<void> {
  for (const mend of mends) {
    const failed = await mended(mend, parts);
    if (failed !== undefined) throw storeErrorOf(failed);
  }
}

async function mended(mend: DocumentMend, { documents, ledger, folder }: MendParts): Promise<StoreUnavailable | undefined> {
  switch (mend.kind) {
    case 'remove': {
      const document = await documents.find(mend.teamId, mend.documentId);
      if (isUnavailable(document)) return document;
      for (const { requestId } of document?.holds ?? []) {
        const failed = await released(ledger, mend.teamId, requestId);
        if (failed !== undefined) return failed;
      }
      const removed = await documents.remove(mend);
      return isUnavailable(removed) ? removed : undefined;
    }
    case 'release':
      return released(ledger, mend.teamId, mend.requestId);
    case 'files':
      await folder?.removeAll(mend.documentId);
      return undefined;
    case 'bytes':
      return documents.setBytes(mend.documentId, mend.bytes);
    case 'team':
      return documents.recountTeam(mend.teamId);
    case 'sum':
      return documents.recountBytes();
  }
}

async function released(ledger: Pick<Ledger, 'resolve'>, teamId: string, requestId: string): Promise<StoreUnavailable | undefined> {
  const resolution = await new Promise<Parameters<Parameters<Ledger['resolve']>[0]['answered']>[0]>((answered, failed) =>
    ledger.resolve({ teamId, requestId, verdict: 'release', answered, failed }),
  );
  return isUnavailable(resolution) ? resolution : undefined;
}

/** One line for each. */
export function mendLine(mend: DocumentMend): string {
  switch (mend.kind) {
    case 'remove':
      return `team ${mend.teamId}: document ${mend.documentId} is removed, and what is held for it is released`;
    case 'release':
      return `team ${mend.teamId}: what is held by ${mend.requestId} is released`;
    case 'files':
      return `the files of document ${mend.documentId} are removed`;
    case 'bytes':
      return `document ${mend.documentId} is counted with ${mend.bytes} bytes`;
    case 'team':
      return `team ${mend.teamId}: its documents are counted again`;
    case 'sum':
      return 'the bytes of all documents are added up again';
  }
}
