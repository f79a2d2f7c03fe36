// Checks what a store has of documents: records, files, positions in the queue, sums, and what is reserved; and says how each fault is
// mended.
import { answered, answering, isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentFolder, DocumentRecord } from '../ports/documents.ts';
import type { Ledger, Resolution } from '../ports/ledger.ts';
import type { StoreFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { bytesOf, DOCUMENTS, fileIdsOf, QUEUE, readOfTeam, sumOf, teamDocuments, DOCUMENT_TOTALS } from './records/record-documents.ts';
import type { RecordDocuments } from './records/record-documents.ts';
import { RecordGroup } from './records/json-table.ts';
import { recordsOf } from './records/record-tables.ts';
import type { WholeStore } from './whole-store.ts';

/** How a fault is mended, and what that is in one line. */
export interface DocumentMend {
  readonly line: string;
  run(parts: MendParts): Promise<StoreUnavailable | undefined>;
}

interface MendParts {
  readonly documents: RecordDocuments;
  readonly ledger: Pick<Ledger, 'resolve'>;
  readonly folder: DocumentFolder | undefined;
}

/** While gateways may use the store. Rejects with a `StoreError` if it does not answer. */
export async function mendDocuments(mends: readonly DocumentMend[], parts: MendParts): Promise<void> {
  for (const mend of mends) answered((await mend.run(parts)) ?? true);
}

/** Nothing can be done for the document: it goes, and what is reserved for it is released. */
function removal(teamId: string, documentId: string): DocumentMend {
  return {
    line: `team ${teamId}: document ${documentId} is removed, and what is held for it is released`,
    run: (parts) =>
      answering(async () => {
        const document = answered(await parts.documents.find(teamId, documentId));
        for (const { requestId } of document?.holds ?? []) answered(await releaseOf(teamId, requestId).run(parts));
        answered(await parts.documents.remove({ teamId, documentId }));
        return undefined;
      }),
  };
}

export function releaseOf(teamId: string, requestId: string): DocumentMend {
  return {
    line: `team ${teamId}: what is held by ${requestId} is released`,
    async run({ ledger }) {
      const resolution = await new Promise<Resolution>((resolved, failed) =>
        ledger.resolve({ teamId, requestId, verdict: 'release', answered: resolved, failed }),
      );
      return isUnavailable(resolution) ? resolution : undefined;
    },
  };
}

/** A violated invariant; of documents, with what mends it. */
export interface CheckedFault extends StoreFinding {
  readonly mend?: DocumentMend;
}

export type ReportFault = (fault: CheckedFault) => void;

export interface DocumentCheck {
  /** Where files are, if not in the store. */
  readonly folder: DocumentFolder | undefined;
  /** What has a longer lease than a request can have is of a document. */
  readonly leaseMsMax: number;
}

interface Look extends DocumentCheck {
  readonly reader: WholeStore;
  readonly nowMs: number;
}

type Found = (detail: string, mend: DocumentMend) => void;

/** A creation that was interrupted is due after a minute; a gateway then removes it within another. */
const CREATION_MS_MAX = 120_000;

/** Those of a team. Returns the bytes of their files, as they are there. */
export async function judgeDocuments(look: Look, account: WholeAccount, report: ReportFault): Promise<number> {
  const { teamId } = account.team;
  const found: Found = (detail, mend) => report({ what: 'document', teamId, detail, mend });
  const documents = [...recordsOf(account, 'documents').values()].map((text) => DOCUMENTS.read(text));
  const ids = documents.map(({ documentId }) => documentId);
  const queued = ids.length === 0 ? [] : await look.reader.shared.read(QUEUE.names(ids));
  let bytes = 0;
  for (const [i, document] of documents.entries()) bytes += await judgeDocument(look, document, queued[i], found);
  const [recorded, counted] = [readOfTeam(recordsOf(account, 'totals').get(DOCUMENT_TOTALS.id)), teamDocuments(documents)];
  if (recorded.bytes !== counted.bytes || recorded.open.toSorted().join() !== counted.open.toSorted().join()) {
    const [was, is] = [recorded, counted].map((one) => `${one.open.length} open documents and ${one.bytes} bytes`);
    found(`it is recorded with ${was}, but has ${is}`, {
      line: `team ${teamId}: its documents are counted again`,
      run: (parts) => parts.documents.recountTeam(teamId),
    });
  }
  const named = new Set(documents.flatMap(({ holds }) => holds.map(({ requestId }) => requestId)));
  for (const { requestId, untilMs, characters } of account.requests)
    if (untilMs - look.nowMs > look.leaseMsMax && !named.has(requestId))
      found(`${characters} characters are held for a document that there is not`, releaseOf(teamId, requestId));
  return bytes;
}

/** The bytes of its files. */
async function judgeDocument({ reader, folder }: Look, document: DocumentRecord, queued: string | undefined, found: Found) {
  const { documentId, teamId } = document;
  const remove = removal(teamId, documentId);
  if (queued === undefined) found(`document ${documentId} is not in the queue: nobody works on it, and it does not expire`, remove);
  let bytes = 0;
  for (const fileId of fileIdsOf(document)) {
    const pieces = await (folder === undefined ? reader.entries(teamId, fileId) : folder.read(documentId, fileId));
    if (pieces === undefined) found(`a file of document ${documentId} is missing`, remove);
    else bytes += bytesOf(pieces);
  }
  const counted = QUEUE.read(queued)?.bytes ?? bytes;
  if (counted !== bytes)
    found(`document ${documentId} is counted with ${counted} bytes, its files have ${bytes}`, {
      line: `document ${documentId} is counted with ${bytes} bytes`,
      run: ({ documents }) => documents.setBytes(documentId, bytes),
    });
  return bytes;
}

/** What is of no team: the queue, its sum, and a directory. */
export async function judgeQueue({ reader, folder, nowMs }: Look, report: ReportFault): Promise<void> {
  const { shared, store } = reader;
  const found: Found = (detail, mend) => report({ what: 'document', detail, mend });
  const hasRecord = async (documentId: string) => answered(await store.records.groupOf(DOCUMENTS.name(documentId))) !== undefined;
  const queue = new Map(await QUEUE.list(shared));
  const sum = sumOf([...queue.values()].map(({ bytes }) => bytes));
  const counted = Number((await shared.list('totals')).get(DOCUMENT_TOTALS.id) ?? 0);
  if (sum !== counted)
    found(`the files of all documents are counted with ${counted} bytes, but have ${sum}`, {
      line: 'the bytes of all documents are added up again',
      run: ({ documents }) => documents.recountBytes(),
    });
  for (const [documentId, { teamId, dueMs }] of queue)
    if (dueMs <= nowMs - CREATION_MS_MAX && !(await new RecordGroup(store.records, teamId).list('documents')).has(documentId))
      found(`document ${documentId} is in the queue, but does not exist`, removal(teamId, documentId));
  for (const documentId of (await folder?.list()) ?? [])
    if (!queue.has(documentId) && !(await hasRecord(documentId)))
      found(`there are files of document ${documentId}, which does not exist`, {
        line: `the files of document ${documentId} are removed`,
        run: async () => folder?.removeAll(documentId).then(() => undefined),
      });
}
