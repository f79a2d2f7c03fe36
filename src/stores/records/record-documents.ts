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
import { bytesOf, fileIdsOf, isOpen, OF_TEAM, ofTeam, readDocument, readOfTeam, teamDocuments } from './document-record.ts';
import type { TeamDocuments } from './document-record.ts';
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
    bounds: DocumentBounds,
  ): Promise<DocumentCreation | StoreUnavailable> {
    const { documentId, teamId } = document;
    const { bytesMax } = bounds;
    const bytes = bytesOf(file.pieces);
    const room = await this.#space.change(teamId, [OF_TEAM], ([text]) => ({ result: roomOf(readOfTeam(text), bytes, bounds) }));
    if (room === undefined) return { kind: 'team_unknown' };
    if (typeof room !== 'string') return room;
    if (room !== 'room') return { kind: room };
    const createdAtMs = await this.#space.change<number | undefined>(
      SHARED_RECORDS,
      [queueName(documentId), SUM],
      ([known, sum], { nowMs }) => {
        if (known !== undefined) return { result: nowMs };
        const total = Number(sum ?? 0) + bytes;
        if (total > bytesMax) return { result: undefined };
        const queued: QueuedDocument = { teamId, bytes, createdMs: nowMs, dueMs: nowMs + CREATION_MS, untilMs: nowMs + keepMs };
        return {
          result: nowMs,
          ...placed(documentId, undefined, queued),
          put: [...putOf(documentId, queued), { ...SUM, value: String(total) }],
        };
      },
    );
    if (createdAtMs === undefined) return { kind: 'full' };
    if (isUnavailable(createdAtMs)) return createdAtMs;
    const whole: DocumentRecord = { ...document, createdAtMs, untilMs: createdAtMs + keepMs, storedBytes: bytes };
    const created = await this.#add(whole, file, bounds);
    if (isUnavailable(created)) return created;
    if (created.kind !== 'created') await this.#drop(documentId);
    else await this.yield({ documentId, teamId, worker: '' }, 0);
    return created;
  }

  async #add(document: DocumentRecord, file: NewDocumentFile, bounds: DocumentBounds): Promise<DocumentCreation | StoreUnavailable> {
    const { documentId, teamId } = document;
    const blobs = await this.#keep(document, file);
    if (!Array.isArray(blobs)) return blobs as StoreUnavailable;
    const name = recordName(documentId);
    const latestMs = document.createdAtMs + CREATION_MS - CREATION_MARGIN_MS;
    const created = await this.#space.change<DocumentCreation | StoreUnavailable>(teamId, [name, OF_TEAM], ([known, text], { nowMs }) => {
      if (known !== undefined) return { result: { kind: 'created', document } };
      if (nowMs > latestMs) return { result: LATE };
      const { open, bytes } = readOfTeam(text);
      const room = roomOf({ open, bytes }, document.storedBytes!, bounds);
      if (room !== 'room') return { result: { kind: room } };
      const { put = [] } = ofTeam({ open: [...open, documentId], bytes: bytes + document.storedBytes! });
      return {
        result: { kind: 'created', document },
        put: [{ ...name, value: JSON.stringify(document) }, ...put],
        attach: blobs as NewBlob[],
      };
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
    const changed = await this.#space.change<DocumentRecord | undefined>(teamId, [name, OF_TEAM], ([text, all], { nowMs }) => {
      gone = [];
      const known = text === undefined ? undefined : readDocument(text);
      const decided = known === undefined ? undefined : decide(known);
      if (known === undefined || decided === undefined) return { result: undefined };
      const ends = isOpen(known) && !isOpen(decided);
      const kept = fileIdsOf(decided).length === 0 ? 0 : known.storedBytes;
      const storedBytes = file === undefined ? kept : bytesOf(file.pieces);
      const next = { ...decided, storedBytes, ...(ends ? { endedAtMs: nowMs } : {}) };
      gone = fileIdsOf(known).filter((id) => !fileIdsOf(next).includes(id));
      const { put = [], remove } = ends || storedBytes !== known.storedBytes ? ofTeam(replaced(all, known, next)) : {};
      return {
        result: next,
        put: [{ ...name, value: JSON.stringify(next) }, ...put],
        remove,
        attach: blobs as NewBlob[],
        detach: this.#folder === undefined ? gone : [],
        ...(ends ? { event: eventOf(next) } : {}),
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
    const removed = await this.#space.change<DocumentRecord | undefined>(teamId, [name, OF_TEAM], ([text, all]) => {
      if (text === undefined) return { result: undefined };
      const known = readDocument(text);
      const { put, remove = [] } = ofTeam(replaced(all, known, undefined));
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

  /** Counts a team's documents again; for operators. */
  async recountTeam(teamId: string): Promise<StoreUnavailable | undefined> {
    const before = await this.#space.read(teamId, [OF_TEAM]);
    if (isUnavailable(before)) return before;
    const all = await this.#space.list(teamId, 'documents');
    if (isUnavailable(all)) return all;
    const done = await this.#space.change<true>(teamId, [OF_TEAM, ...[...all.keys()].map(recordName)], ([counted, ...texts]) => {
      // What was created or removed meanwhile may not be among them: the next check finds what is still wrong.
      if (counted !== before[0]) return { result: true };
      return { result: true, ...ofTeam(teamDocuments(texts.flatMap((text) => (text === undefined ? [] : readDocument(text))))) };
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

function roomOf(
  { open, bytes }: TeamDocuments,
  more: number,
  { openMax, teamBytesMax }: DocumentBounds,
): 'room' | 'too_many' | 'team_full' {
  if (open.length >= openMax) return 'too_many';
  return bytes + more > teamBytesMax ? 'team_full' : 'room';
}

/** With `next` in place of what the document was; `undefined`: it goes. */
function replaced(text: string | undefined, known: DocumentRecord, next: DocumentRecord | undefined): TeamDocuments {
  const { open, bytes } = readOfTeam(text);
  const stays = next !== undefined && isOpen(next);
  return {
    open: stays ? open : open.filter((id) => id !== known.documentId),
    bytes: bytes - (known.storedBytes ?? 0) + (next?.storedBytes ?? 0),
  };
}

/** Of a document that has just ended. */
function eventOf({ documentId, keyId, format, state, code, billed }: DocumentRecord) {
  const outcome =
    state === 'done'
      ? ({ state, characters: billed ?? 0 } as const)
      : ({ state: 'error', code: code ?? 'internal_error', characters: 0 } as const);
  return { id: eventIds.document(documentId), facts: { kind: 'document_done', documentId, keyId, format, ...outcome } as const };
}
