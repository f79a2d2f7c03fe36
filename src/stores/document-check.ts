// Checks what a store has of documents: records, files, places in the queue, sums, and what is reserved; and says how each fault is
// mended.
import { SHARED_RECORDS } from '../domain/shared-records.ts';
import type { DocumentFolder, DocumentRecord } from '../ports/documents.ts';
import type { ReportFinding, WholeAccount } from '../ports/whole-accounts.ts';
import { bytesOf, fileIdsOf, OF_TEAM, readDocument, readOfTeam, teamDocuments } from './records/document-record.ts';
import { readQueued, SUM } from './records/queued-document.ts';
import type { QueuedDocument } from './records/queued-document.ts';
import type { WholeStore } from './whole-store.ts';

/** How a fault is mended (document-mend.ts). */
export type DocumentMend =
  /** Nothing can be done for the document: it goes, and what is reserved for it is released. */
  | { readonly kind: 'remove'; readonly teamId: string; readonly documentId: string }
  | { readonly kind: 'release'; readonly teamId: string; readonly requestId: string }
  | { readonly kind: 'files'; readonly documentId: string }
  | { readonly kind: 'bytes'; readonly documentId: string; readonly bytes: number }
  | { readonly kind: 'team'; readonly teamId: string }
  | { readonly kind: 'sum' };

interface DocumentCounts {
  readonly documents: number;
  /** Of their files, as they are there. */
  readonly documentBytes: number;
}

interface DocumentCheckOptions {
  readonly reader: WholeStore;
  /** Where files are kept, if not in the store. */
  readonly folder: DocumentFolder | undefined;
  /** What has a longer lease than a request can have is of a document. */
  readonly leaseMsMax: number;
}

type Found = (detail: string, mend: DocumentMend) => void;

/** A creation that was interrupted is due after a minute; a gateway then removes it within another. */
const LATE_MS = 120_000;

export class DocumentCheck {
  readonly #options: DocumentCheckOptions;
  /** Of the last look at each team, and at what is shared. */
  readonly #mends = new Map<string, readonly DocumentMend[]>();
  readonly #counts = new Map<string, DocumentCounts>();
  /** Of all teams' documents, as it was read last. */
  #queue: ReadonlyMap<string, string> | undefined;
  /** Documents of teams. */
  readonly #known = new Set<string>();

  constructor(options: DocumentCheckOptions) {
    this.#options = options;
  }

  get counts(): DocumentCounts {
    const all = [...this.#counts.values()];
    return {
      documents: all.reduce((sum, { documents }) => sum + documents, 0),
      documentBytes: all.reduce((sum, { documentBytes }) => sum + documentBytes, 0),
    };
  }

  get mends(): readonly DocumentMend[] {
    return [...this.#mends.values()].flat();
  }

  async judgeTeam(contents: WholeAccount, nowMs: number, report: ReportFinding): Promise<void> {
    const { reader } = this.#options;
    const { teamId } = contents.team;
    const records = await reader.records(teamId, 'documents');
    const mends: DocumentMend[] = [];
    const found: Found = (detail, mend) => {
      mends.push(mend);
      report({ what: 'document', teamId, detail });
    };
    const documents = [...records.values()].map(readDocument);
    if (documents.length > 0) this.#queue = await this.#queueFor(teamId);
    let documentBytes = 0;
    for (const { documentId } of documents) this.#known.add(documentId);
    for (const document of documents) documentBytes += await this.#judgeDocument(document, this.#queue?.get(document.documentId), found);
    const recorded = readOfTeam((await reader.records(teamId, 'totals')).get(OF_TEAM.id));
    const counted = teamDocuments(documents);
    const isSame = recorded.bytes === counted.bytes && recorded.open.length === counted.open.length;
    if (!isSame || !counted.open.every((id) => recorded.open.includes(id))) {
      const [was, is] = [recorded, counted].map(({ open, bytes }) => `${open.length} open documents and ${bytes} bytes`);
      found(`it is recorded with ${was}, but has ${is}`, { kind: 'team', teamId });
    }
    this.#judgeHeld(contents, documents, nowMs, found);
    this.#mends.set(teamId, mends);
    this.#counts.set(teamId, { documents: documents.length, documentBytes });
  }

  /** Read once for all teams; again for a team that is looked at again, because documents may have changed since. */
  async #queueFor(teamId: string): Promise<ReadonlyMap<string, string>> {
    const isAgain = this.#mends.has(teamId);
    return this.#queue === undefined || isAgain ? this.#options.reader.records(SHARED_RECORDS, 'documents') : this.#queue;
  }

  /** The bytes of its files. */
  async #judgeDocument(document: DocumentRecord, queued: string | undefined, found: Found): Promise<number> {
    const { documentId, teamId } = document;
    const remove: DocumentMend = { kind: 'remove', teamId, documentId };
    if (queued === undefined) found(`document ${documentId} is not in the queue: nobody works on it, and it does not expire`, remove);
    let bytes = 0;
    for (const fileId of fileIdsOf(document)) {
      const pieces = await this.#file(teamId, documentId, fileId);
      if (pieces === undefined) found(`a file of document ${documentId} is missing`, remove);
      else bytes += bytesOf(pieces);
    }
    const counted = queued === undefined ? bytes : readQueued(queued).bytes;
    if (counted !== bytes)
      found(`document ${documentId} is counted with ${counted} bytes, its files have ${bytes}`, { kind: 'bytes', documentId, bytes });
    return bytes;
  }

  #file(teamId: string, documentId: string, fileId: string) {
    const { reader, folder } = this.#options;
    return folder === undefined ? reader.entries(teamId, fileId) : folder.read(documentId, fileId);
  }

  #judgeHeld({ team: { teamId }, requests }: WholeAccount, documents: readonly DocumentRecord[], nowMs: number, found: Found): void {
    const named = new Set(documents.flatMap(({ holds }) => holds.map(({ requestId }) => requestId)));
    for (const { requestId, untilMs, characters } of requests) {
      if (untilMs - nowMs <= this.#options.leaseMsMax || named.has(requestId)) continue;
      found(`${characters} characters are held for a document that there is not`, { kind: 'release', teamId, requestId });
    }
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
    const queue = [...all].filter(([id]) => id !== SUM.id).map(([id, text]): [string, QueuedDocument] => [id, readQueued(text)]);
    const sum = queue.reduce((bytes, [, queued]) => bytes + queued.bytes, 0);
    const counted = Number(all.get(SUM.id) ?? 0);
    if (sum !== counted) found(`the files of all documents are counted with ${counted} bytes, but have ${sum}`, { kind: 'sum' });
    for (const [documentId, { teamId, dueMs }] of queue) {
      if (dueMs > nowMs - LATE_MS || (await reader.records(teamId, 'documents')).has(documentId)) continue;
      found(`document ${documentId} is in the queue, but does not exist`, { kind: 'remove', teamId, documentId });
    }
    for (const documentId of (await folder?.list()) ?? []) {
      if (!all.has(documentId) && !this.#known.has(documentId))
        found(`there are files of document ${documentId}, which does not exist`, { kind: 'files', documentId });
    }
    this.#mends.set('', mends);
  }
}
