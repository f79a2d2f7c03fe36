// Checks what a store has of documents: records, files, positions in the queue, sums, and what is reserved; and says how each fault is
// mended.
import { SHARED_RECORDS } from '../domain/shared-records.ts';
import { answered, answering, isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DocumentFolder, DocumentRecord } from '../ports/documents.ts';
import type { Ledger, Resolution } from '../ports/ledger.ts';
import type { ReportFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { bytesOf, DOCUMENTS, fileIdsOf, QUEUE, readOfTeam, sumOf, teamDocuments, DOCUMENT_TOTALS } from './records/document-record.ts';
import type { RecordDocuments } from './records/record-documents.ts';
import type { WholeStore } from './whole-store.ts';

/** How a fault is mended, and what that is in one line. */
interface DocumentMend {
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

interface DocumentCounts {
  readonly documents: number;
  /** Of their files, as they are there. */
  readonly documentBytes: number;
}

interface DocumentCheckOptions {
  readonly reader: WholeStore;
  /** Where files are, if not in the store. */
  readonly folder: DocumentFolder | undefined;
  /** What has a longer lease than a request can have is of a document. */
  readonly leaseMsMax: number;
}

type Found = (detail: string, mend: DocumentMend) => void;

/** A creation that was interrupted is due after a minute; a gateway then removes it within another. */
const CREATION_MS_MAX = 120_000;

/** The last look at a team, or at what is shared. */
interface Look extends DocumentCounts {
  readonly mends: readonly DocumentMend[];
}

export class DocumentCheck {
  readonly #options: DocumentCheckOptions;
  readonly #looks = new Map<string, Look>();
  /** Of all teams' documents, as it was read last. */
  #queue: ReadonlyMap<string, string> | undefined;
  /** Documents of teams. */
  readonly #known = new Set<string>();

  constructor(options: DocumentCheckOptions) {
    this.#options = options;
  }

  get counts(): DocumentCounts {
    const all = [...this.#looks.values()];
    return {
      documents: sumOf(all.map(({ documents }) => documents)),
      documentBytes: sumOf(all.map(({ documentBytes }) => documentBytes)),
    };
  }

  get mends(): readonly DocumentMend[] {
    return [...this.#looks.values()].flatMap(({ mends }) => mends);
  }

  async judgeTeam({ team: { teamId }, requests }: WholeAccount, nowMs: number, report: ReportFinding): Promise<void> {
    const { reader, leaseMsMax } = this.#options;
    const mends: DocumentMend[] = [];
    const found: Found = (detail, mend) => {
      mends.push(mend);
      report({ what: 'document', teamId, detail });
    };
    const documents = [...(await reader.records(teamId, 'documents')).values()].map((text) => DOCUMENTS.read(text));
    // Read once for all teams; again for a team that is looked at again, because documents may have changed since.
    if (documents.length > 0 && (this.#queue === undefined || this.#looks.has(teamId)))
      this.#queue = await reader.records(SHARED_RECORDS, 'documents');
    let documentBytes = 0;
    for (const { documentId } of documents) this.#known.add(documentId);
    for (const document of documents) documentBytes += await this.#judgeDocument(document, this.#queue?.get(document.documentId), found);
    const recorded = readOfTeam((await reader.records(teamId, 'totals')).get(DOCUMENT_TOTALS.id));
    const counted = teamDocuments(documents);
    const isSame = recorded.bytes === counted.bytes && recorded.open.length === counted.open.length;
    if (!isSame || !counted.open.every((id) => recorded.open.includes(id))) {
      const [was, is] = [recorded, counted].map(({ open, bytes }) => `${open.length} open documents and ${bytes} bytes`);
      found(`it is recorded with ${was}, but has ${is}`, {
        line: `team ${teamId}: its documents are counted again`,
        run: ({ documents: all }) => all.recountTeam(teamId),
      });
    }
    const named = new Set(documents.flatMap(({ holds }) => holds.map(({ requestId }) => requestId)));
    for (const { requestId, untilMs, characters } of requests)
      if (untilMs - nowMs > leaseMsMax && !named.has(requestId))
        found(`${characters} characters are held for a document that there is not`, releaseOf(teamId, requestId));
    this.#looks.set(teamId, { mends, documents: documents.length, documentBytes });
  }

  /** The bytes of its files. */
  async #judgeDocument(document: DocumentRecord, queued: string | undefined, found: Found): Promise<number> {
    const { reader, folder } = this.#options;
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
  async judgeShared(nowMs: number, report: ReportFinding): Promise<void> {
    const { reader, folder } = this.#options;
    const mends: DocumentMend[] = [];
    const found: Found = (detail, mend) => {
      mends.push(mend);
      report({ what: 'document', detail });
    };
    const all = await reader.records(SHARED_RECORDS, 'documents');
    const queue = [...all].map(([id, text]) => ({ ...QUEUE.read(text), documentId: id }));
    const sum = sumOf(queue.map(({ bytes }) => bytes));
    const counted = Number((await reader.records(SHARED_RECORDS, 'totals')).get(DOCUMENT_TOTALS.id) ?? 0);
    if (sum !== counted)
      found(`the files of all documents are counted with ${counted} bytes, but have ${sum}`, {
        line: 'the bytes of all documents are added up again',
        run: ({ documents }) => documents.recountBytes(),
      });
    for (const { documentId, teamId, dueMs } of queue) {
      if (dueMs > nowMs - CREATION_MS_MAX || (await reader.records(teamId, 'documents')).has(documentId)) continue;
      found(`document ${documentId} is in the queue, but does not exist`, removal(teamId, documentId));
    }
    for (const documentId of (await folder?.list()) ?? []) {
      if (all.has(documentId) || this.#known.has(documentId)) continue;
      found(`there are files of document ${documentId}, which does not exist`, {
        line: `the files of document ${documentId} are removed`,
        run: async () => folder?.removeAll(documentId).then(() => undefined),
      });
    }
    this.#looks.set('', { mends, documents: 0, documentBytes: 0 });
  }
}
