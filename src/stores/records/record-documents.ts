// Documents over a record space. A team's group has their records and files; the shared group has the queue, a record and an index
// entry for each document, and the sum of all bytes. The queue's record is written first and removed last: it is what the janitor
// finds, whatever happens in between.
import { eventIds } from '../../domain/event-rules.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DocumentBacklog,
  DocumentBounds,
  DocumentClaim,
  DocumentCreation,
  DocumentFolder,
  DocumentRecord,
  DocumentStore,
  DueDocument,
  NewDocumentFile,
  PlacedDocument,
} from '../../ports/documents.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { GroupChange, NewBlob, RecordSpace } from '../../ports/record-space.ts';
import { bytesOf, fileIdsOf, isOpen, OPEN, readDocument, readOpen } from './document-record.ts';
import { createdAt, digits, entriesOf, idAfter, moved, placed, putOf, queueName, readPlace, readQueued, SUM } from './queued-document.ts';
import type { QueuedDocument } from './queued-document.ts';

/** A document whose creation was interrupted is due after it, and is then removed from the queue: it must not be created any more. */
const CREATION_MS = 60_000;
/** So much before: what the clocks of the store's servers may differ by, and the change may take. */
const CREATION_MARGIN_MS = 10_000;
/** How many open documents are counted at most. */
const COUNTED_MAX = 1000;
/** Of an index: takes Redis less than a millisecond. */
const PAGE = 1000;
const FILES_FAILED: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };
const LATE: StoreUnavailable = { kind: 'unavailable', cause: 'late' };

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
      const queued: QueuedDocument = { teamId, bytes, createdMs: nowMs, dueMs: nowMs + CREATION_MS, untilMs: nowMs + keepMs };
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
    const latestMs = document.createdAtMs + CREATION_MS - CREATION_MARGIN_MS;
    const created = await this.#space.change<DocumentCreation | StoreUnavailable>(teamId, [name, OPEN], ([known, text], { nowMs }) => {
      if (known !== undefined) return { result: { kind: 'created', document } };
      if (nowMs > latestMs) return { result: LATE };
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
    const changed = await this.#space.change<DocumentRecord | undefined>(teamId, [name, OPEN], ([text, open], { nowMs }) => {
      gone = [];
      const known = text === undefined ? undefined : readDocument(text);
      const decided = known === undefined ? undefined : decide(known);
      if (known === undefined || decided === undefined) return { result: undefined };
      const next = isOpen(known) && !isOpen(decided) ? { ...decided, endedAtMs: nowMs } : decided;
      gone = fileIdsOf(known).filter((id) => !fileIdsOf(next).includes(id));
      return {
        result: next,
        put: [{ ...name, value: JSON.stringify(next) }, ...(isOpen(next) ? [] : openWithout(open, documentId).put)],
        remove: isOpen(next) ? [] : openWithout(open, documentId).remove,
        attach: blobs as NewBlob[],
        detach: this.#folder === undefined ? gone : [],
        ...(next === decided ? {} : { event: eventOf(next) }),
      };
    });
    if (isUnavailable(changed)) return changed;
    if (changed === undefined && file !== undefined) await this.#discard(documentId, teamId, file, blobs as NewBlob[]);
    if (changed !== undefined) for (const id of gone) await this.#removeFile(documentId, id);
    if (changed !== undefined && (file !== undefined || gone.length > 0)) await this.setBytes(documentId, bytesOf(file?.pieces ?? []));
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
    return found.map(readPlace);
  }

  async newest(after: string | undefined, limit: number): Promise<readonly PlacedDocument[] | StoreUnavailable> {
    const page = { index: 'documents_by_age', from: idAfter(after), below: '~', limit } as const;
    const found = await this.#space.page(SHARED_RECORDS, page);
    return isUnavailable(found) ? found : found.map(readPlace);
  }

  async backlog(): Promise<DocumentBacklog | StoreUnavailable> {
    const open = await this.#space.page(SHARED_RECORDS, { index: 'documents_open', from: '', below: '~', limit: COUNTED_MAX });
    if (isUnavailable(open)) return open;
    const read = await this.#space.change<Omit<DocumentBacklog, 'open'>>(SHARED_RECORDS, [SUM], ([sum], { nowMs }) => {
      const [oldest] = open;
      const waitedMs = oldest === undefined ? 0 : Math.max(0, nowMs - createdAt(readPlace(oldest)));
      return { result: { bytes: Number(sum ?? 0), oldestMs: waitedMs } };
    });
    // The shared records always exist.
    return isUnavailable(read) ? read : { open: open.length, ...read! };
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
      const dueMs = afterMs === 'expiry' ? known.untilMs : nowMs + afterMs;
      return {
        result: true,
        ...moved(documentId, known, { ...free, dueMs: known.untilMs > nowMs ? Math.min(known.untilMs, dueMs) : dueMs }),
      };
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

  /** Adds up the bytes of all documents again; for operators. */
  async recountBytes(): Promise<StoreUnavailable | undefined> {
    const all = await this.#space.list(SHARED_RECORDS, 'documents');
    if (isUnavailable(all)) return all;
    const names = [...all.keys()].filter((id) => id !== SUM.id).map(queueName);
    const done = await this.#space.change<true>(SHARED_RECORDS, [SUM, ...names], ([sum, ...texts]) => {
      const total = texts.reduce((bytes, text) => bytes + (text === undefined ? 0 : readQueued(text).bytes), 0);
      // What has come meanwhile is not among them: the next check finds it.
      return Number(sum ?? 0) === total ? { result: true } : { result: true, put: [{ ...SUM, value: String(total) }] };
    });
    return isUnavailable(done) ? done : undefined;
  }

  /** Counts a team's open documents again; for operators. */
  async recountOpen(teamId: string): Promise<StoreUnavailable | undefined> {
    const [all, open] = [await this.#space.list(teamId, 'documents'), await this.#space.read(teamId, [OPEN])];
    if (isUnavailable(all)) return all;
    if (isUnavailable(open)) return open;
    const ids = [...new Set([...all.keys(), ...readOpen(open[0])])];
    const done = await this.#space.change<true>(teamId, [OPEN, ...ids.map(recordName)], ([text, ...records]) => {
      const known = ids.filter((_, i) => records[i] !== undefined && isOpen(readDocument(records[i])));
      // Documents that were created meanwhile.
      const others = readOpen(text).filter((id) => !ids.includes(id));
      return { result: true, put: [{ ...OPEN, value: [...known, ...others].join(' ') }] };
    });
    return isUnavailable(done) ? done : undefined;
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
        unindex: entriesOf(documentId, known),
      };
    });
    return isUnavailable(dropped) ? dropped : undefined;
  }

  /** What its files have; if it fails, the sum is that of the file before, until the document is gone. */
  async setBytes(documentId: string, bytes: number): Promise<StoreUnavailable | undefined> {
    const set = await this.#space.change<true>(SHARED_RECORDS, [queueName(documentId), SUM], ([text, sum]) => {
      if (text === undefined) return { result: true };
      const known = readQueued(text);
      const total = Math.max(0, Number(sum ?? 0) - known.bytes + bytes);
      return { result: true, put: [...putOf(documentId, { ...known, bytes }), { ...SUM, value: String(total) }] };
    });
    return isUnavailable(set) ? set : undefined;
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

/** In the team's group. */
const recordName = queueName;

function openWithout(text: string | undefined, documentId: string) {
  const open = readOpen(text).filter((id) => id !== documentId);
  return open.length === 0
    ? { put: [], remove: text === undefined ? [] : [OPEN] }
    : { put: [{ ...OPEN, value: open.join(' ') }], remove: [] };
}

/** Of a document that has just ended. */
function eventOf({ documentId, keyId, format, state, code, billed }: DocumentRecord) {
  const outcome =
    state === 'done'
      ? ({ state, characters: billed ?? 0 } as const)
      : ({ state: 'error', code: code ?? 'internal_error', characters: 0 } as const);
  return { id: eventIds.document(documentId), facts: { kind: 'document_done', documentId, keyId, format, ...outcome } as const };
}
