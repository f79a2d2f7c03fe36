// Documents over a record space. A team's group has their records and files; the shared group has the queue, a record and an index
// entry for each document, and the sum of all bytes. The queue's record is written first and removed last: it is what the janitor
// finds, whatever happens in between.
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DocumentBounds,
  DocumentClaim,
  DocumentCreation,
  DocumentFolder,
  DocumentRecord,
  DocumentStore,
  DueDocument,
  NewDocumentFile,
} from '../../ports/documents.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { GroupChange, IndexEntry, NewBlob, RecordName, RecordSpace } from '../../ports/record-space.ts';

interface QueuedDocument {
  readonly teamId: string;
  /** Of its file. */
  readonly bytes: number;
  readonly dueMs: number;
  /** When it expires. */
  readonly untilMs: number;
  readonly worker?: string;
}

/** A document whose creation was interrupted is due after it. */
const CREATION_MS = 60_000;
const TIME_DIGITS = 15;
/** Of an index: takes Redis less than a millisecond. */
const PAGE = 1000;
/** The sum of all bytes; no document has this id. */
const SUM: RecordName = { table: 'documents', id: 'bytes' };
/** Of a team: the documents that are queued or translating. */
const OPEN: RecordName = { table: 'totals', id: 'documents' };
const FILES_FAILED: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };

export class RecordDocuments implements DocumentStore {
  readonly #space: RecordSpace;
  readonly #nowMs: () => number;
  readonly #folder: DocumentFolder | undefined;

  /** `nowMs`: the store's time as far as it is known; `folder`: where files are kept, if not in the store. */
  constructor(space: RecordSpace, nowMs: () => number, folder?: DocumentFolder) {
    this.#space = space;
    this.#nowMs = nowMs;
    this.#folder = folder;
  }

  async create(
    document: Omit<DocumentRecord, 'createdAtMs' | 'untilMs'>,
    keepMs: number,
    file: NewDocumentFile,
    { openMax, bytesMax }: DocumentBounds,
  ): Promise<DocumentCreation | StoreUnavailable> {
    const { documentId, teamId } = document;
    const bytes = bytesOf(file.pieces);
    const open = await this.#space.change<number | 'too_many'>(teamId, [OPEN], ([text]) => ({
      result: readOpen(text).length >= openMax ? 'too_many' : 0,
    }));
    if (open === undefined) return { kind: 'team_unknown' };
    if (typeof open !== 'number') return open === 'too_many' ? { kind: 'too_many' } : open;
    const room = await this.#space.change<number | undefined>(SHARED_RECORDS, [queueName(documentId), SUM], ([known, sum], { nowMs }) => {
      if (known !== undefined) return { result: nowMs };
      const total = Number(sum ?? 0) + bytes;
      if (total > bytesMax) return { result: undefined };
      const queued: QueuedDocument = { teamId, bytes, dueMs: nowMs + CREATION_MS, untilMs: nowMs + keepMs };
      return {
        result: nowMs,
        ...placed(documentId, undefined, queued),
        put: [...putOf(documentId, queued), { ...SUM, value: String(total) }],
      };
    });
    if (room === undefined) return { kind: 'full' };
    if (isUnavailable(room)) return room;
    const whole: DocumentRecord = { ...document, createdAtMs: room, untilMs: room + keepMs };
    const created = await this.#add(whole, file, openMax);
    if (isUnavailable(created)) return created;
    if (created.kind !== 'created') await this.#drop(documentId);
    else await this.yield({ documentId, teamId, worker: '' }, 0);
    return created;
  }

  async #add(document: DocumentRecord, file: NewDocumentFile, openMax: number): Promise<DocumentCreation | StoreUnavailable> {
    const { documentId, teamId } = document;
    const blobs = await this.#keep(document, file);
    if (!Array.isArray(blobs)) return blobs as StoreUnavailable;
    const name = recordName(documentId);
    const created = await this.#space.change<DocumentCreation>(teamId, [name, OPEN], ([known, text]) => {
      if (known !== undefined) return { result: { kind: 'created', document } };
      const open = readOpen(text);
      if (open.length >= openMax) return { result: { kind: 'too_many' } };
      const put = [
        { ...name, value: JSON.stringify(document) },
        { ...OPEN, value: [...open, documentId].join(' ') },
      ];
      return { result: { kind: 'created', document }, put, attach: blobs as NewBlob[] };
    });
    return created ?? { kind: 'team_unknown' };
  }

  async find(teamId: string, documentId: string): Promise<DocumentRecord | undefined | StoreUnavailable> {
    const found = await this.#space.read(teamId, [recordName(documentId)]);
    if (isUnavailable(found)) return found;
    return found[0] === undefined ? undefined : readDocument(found[0]);
  }

  async list(teamId: string): Promise<readonly DocumentRecord[] | StoreUnavailable> {
    const found = await this.#space.list(teamId, 'documents');
    if (isUnavailable(found)) return found;
    return [...found.values()].map(readDocument).toSorted((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async file({ documentId, teamId }: DueDocument, fileId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    if (this.#folder === undefined) return this.#space.readBlob(teamId, fileId);
    try {
      return await this.#folder.read(documentId, fileId);
    } catch {
      return FILES_FAILED;
    }
  }

  async change(
    { documentId, teamId }: DueDocument,
    decide: (document: DocumentRecord) => DocumentRecord | undefined,
    file?: NewDocumentFile,
  ): Promise<DocumentRecord | undefined | StoreUnavailable> {
    const blobs = file === undefined ? [] : await this.#keep({ documentId, teamId }, file);
    if (!Array.isArray(blobs)) return blobs as StoreUnavailable;
    const name = recordName(documentId);
    let gone: readonly string[] = [];
    const changed = await this.#space.change<DocumentRecord | undefined>(teamId, [name, OPEN], ([text, open]) => {
      gone = [];
      const known = text === undefined ? undefined : readDocument(text);
      const next = known === undefined ? undefined : decide(known);
      if (known === undefined || next === undefined) return { result: undefined };
      gone = fileIdsOf(known).filter((id) => !fileIdsOf(next).includes(id));
      return {
        result: next,
        put: [{ ...name, value: JSON.stringify(next) }, ...(isOpen(next) ? [] : openWithout(open, documentId).put)],
        remove: isOpen(next) ? [] : openWithout(open, documentId).remove,
        attach: blobs as NewBlob[],
        detach: this.#folder === undefined ? gone : [],
      };
    });
    if (isUnavailable(changed)) return changed;
    if (changed === undefined && file !== undefined) await this.#discard(documentId, teamId, file, blobs as NewBlob[]);
    if (changed !== undefined) for (const id of gone) await this.#removeFile(documentId, id);
    if (changed !== undefined && file !== undefined) await this.#setBytes(documentId, bytesOf(file.pieces));
    return changed;
  }

  async remove({ documentId, teamId }: DueDocument): Promise<DocumentRecord | undefined | StoreUnavailable> {
    const name = recordName(documentId);
    const removed = await this.#space.change<DocumentRecord | undefined>(teamId, [name, OPEN], ([text, open]) => {
      if (text === undefined) return { result: undefined };
      const known = readDocument(text);
      const { put, remove } = openWithout(open, documentId);
      const detach = this.#folder === undefined ? fileIdsOf(known) : [];
      return { result: known, put, remove: [name, ...remove], detach };
    });
    if (isUnavailable(removed)) return removed;
    const failed = await this.#drop(documentId);
    return failed ?? removed;
  }

  async due(limit: number): Promise<readonly DueDocument[] | StoreUnavailable> {
    const found: string[] = [];
    const below = digits(this.#nowMs() + 1);
    for (let left = limit; left > 0; left -= PAGE) {
      const from = found.length === 0 ? '' : `${found.at(-1)!} `;
      const page = await this.#space.page(SHARED_RECORDS, { index: 'documents_by_due', from, below, limit: Math.min(left, PAGE) });
      if (isUnavailable(page)) return page;
      found.push(...page);
      if (page.length < PAGE) break;
    }
    return found.map((id) => {
      const [, documentId = '', teamId = ''] = id.split(' ');
      return { documentId, teamId };
    });
  }

  async claim({ documentId, worker, leaseMs }: DocumentClaim): Promise<number | undefined | StoreUnavailable> {
    return this.#queued<number | undefined>(documentId, (known, nowMs) => {
      if (known === undefined || (known.worker !== worker && known.dueMs > nowMs)) return { result: undefined };
      return { result: nowMs, ...moved(documentId, known, { ...known, worker, dueMs: nowMs + leaseMs }) };
    });
  }

  async yield({ documentId, worker }: Pick<DocumentClaim, 'documentId' | 'worker'> & DueDocument, afterMs: number | 'expiry') {
    const done = await this.#queued<true>(documentId, (known, nowMs) => {
      if (known === undefined || (known.worker ?? '') !== worker) return { result: true };
      const { worker: _worker, ...free } = known;
      const dueMs = afterMs === 'expiry' ? known.untilMs : Math.min(known.untilMs, nowMs + afterMs);
      return { result: true, ...moved(documentId, known, { ...free, dueMs }) };
    });
    return isUnavailable(done) ? done : undefined;
  }

  async forgetTeam(teamId: string): Promise<StoreUnavailable | undefined> {
    const all = await this.#space.list(SHARED_RECORDS, 'documents');
    if (isUnavailable(all)) return all;
    for (const [documentId, text] of all) {
      if (documentId === SUM.id || readQueued(text).teamId !== teamId) continue;
      const failed = await this.#drop(documentId);
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  async totals(): Promise<{ readonly documents: number; readonly bytes: number } | StoreUnavailable> {
    const all = await this.#space.list(SHARED_RECORDS, 'documents');
    if (isUnavailable(all)) return all;
    return { documents: [...all.keys()].filter((id) => id !== SUM.id).length, bytes: Number(all.get(SUM.id) ?? 0) };
  }

  /** Removes the entry in the queue, and what a folder has of the document. */
  async #drop(documentId: string): Promise<StoreUnavailable | undefined> {
    try {
      await this.#folder?.removeAll(documentId);
    } catch {
      return FILES_FAILED;
    }
    const dropped = await this.#space.change<true>(SHARED_RECORDS, [queueName(documentId), SUM], ([text, sum]) => {
      if (text === undefined) return { result: true };
      const known = readQueued(text);
      const total = Math.max(0, Number(sum ?? 0) - known.bytes);
      return {
        result: true,
        put: total === 0 ? [] : [{ ...SUM, value: String(total) }],
        remove: [queueName(documentId), ...(total === 0 ? [SUM] : [])],
        unindex: [entryOf(documentId, known)],
      };
    });
    return isUnavailable(dropped) ? dropped : undefined;
  }

  async #setBytes(documentId: string, bytes: number): Promise<void> {
    // If it fails, the sum is that of the file before, until the document is gone.
    await this.#space.change<true>(SHARED_RECORDS, [queueName(documentId), SUM], ([text, sum]) => {
      if (text === undefined) return { result: true };
      const known = readQueued(text);
      const total = Math.max(0, Number(sum ?? 0) - known.bytes + bytes);
      return { result: true, put: [...putOf(documentId, { ...known, bytes }), { ...SUM, value: String(total) }] };
    });
  }

  /** Passes the entry of the queue to `decide`. */
  #queued<Result>(
    documentId: string,
    decide: (known: QueuedDocument | undefined, nowMs: number) => GroupChange<Result>,
  ): Promise<Result | undefined | StoreUnavailable> {
    return this.#space.change<Result>(SHARED_RECORDS, [queueName(documentId)], ([text], { nowMs }) =>
      decide(text === undefined ? undefined : readQueued(text), nowMs),
    );
  }

  /** Writes a file; returns the blobs for a change to attach. */
  async #keep({ documentId, teamId }: DueDocument, file: NewDocumentFile): Promise<readonly NewBlob[] | StoreUnavailable> {
    if (this.#folder === undefined) {
      const blobs = [{ blobId: file.fileId, pieces: file.pieces }];
      return (await this.#space.prepare(teamId, blobs)) ?? blobs;
    }
    try {
      await this.#folder.write(documentId, file);
      return [];
    } catch {
      return FILES_FAILED;
    }
  }

  async #discard(documentId: string, teamId: string, { fileId }: NewDocumentFile, blobs: readonly NewBlob[]): Promise<void> {
    if (blobs.length > 0) await this.#space.abandon(teamId, blobs);
    await this.#removeFile(documentId, fileId);
  }

  async #removeFile(documentId: string, fileId: string): Promise<void> {
    try {
      await this.#folder?.remove(documentId, fileId);
    } catch {
      // Goes with the document.
    }
  }
}

function recordName(documentId: string): RecordName {
  return { table: 'documents', id: documentId };
}

/** In the shared group. */
const queueName = recordName;

function readDocument(text: string): DocumentRecord {
  return JSON.parse(text) as DocumentRecord;
}

/** Ids of the blobs that a team's documents hold, for checks of a store. */
export function documentBlobs(documents: ReadonlyMap<string, string>): readonly string[] {
  return [...documents.values()].flatMap((text) => fileIdsOf(readDocument(text)));
}

function readQueued(text: string): QueuedDocument {
  return JSON.parse(text) as QueuedDocument;
}

function readOpen(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(' ');
}

function openWithout(text: string | undefined, documentId: string) {
  const open = readOpen(text).filter((id) => id !== documentId);
  return open.length === 0
    ? { put: [], remove: text === undefined ? [] : [OPEN] }
    : { put: [{ ...OPEN, value: open.join(' ') }], remove: [] };
}

function isOpen({ state }: DocumentRecord): boolean {
  return state === 'queued' || state === 'translating';
}

function fileIdsOf({ sourceId, resultId }: DocumentRecord): readonly string[] {
  return [sourceId, resultId].filter((id) => id !== undefined);
}

function bytesOf(pieces: EntryPieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

function digits(ms: number): string {
  return String(Math.max(0, ms)).padStart(TIME_DIGITS, '0');
}

function entryOf(documentId: string, { dueMs, teamId }: QueuedDocument): IndexEntry {
  return { index: 'documents_by_due', id: `${digits(dueMs)} ${documentId} ${teamId}` };
}

function putOf(documentId: string, queued: QueuedDocument) {
  return [{ ...queueName(documentId), value: JSON.stringify(queued) }];
}

function placed(documentId: string, before: QueuedDocument | undefined, queued: QueuedDocument) {
  const index = [entryOf(documentId, queued)];
  const unindex = before === undefined || before.dueMs === queued.dueMs ? [] : [entryOf(documentId, before)];
  return { index, unindex };
}

function moved(documentId: string, before: QueuedDocument, queued: QueuedDocument) {
  return { ...placed(documentId, before, queued), put: putOf(documentId, queued) };
}
