// Documents over a record space. A team's group has their records and files; the shared group has the queue, a record and index entries
// for each document, and the sum of all bytes. The queue's record is written first and removed last: it is what the janitor finds,
// whatever happens in between.
import { eventIds } from '../../domain/event-rules.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
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
import type { GroupChange, NewBlob, NewEvent, RecordIndex, RecordSpace } from '../../ports/record-space.ts';
import {
  bytesOf,
  DOCUMENTS,
  fileIdsOf,
  idAfter,
  isOpen,
  QUEUE,
  readOfTeam,
  readPlace,
  sumOf,
  teamDocuments,
  DOCUMENT_TOTALS,
  writtenBytes,
  writtenOfTeam,
} from './document-record.ts';
import type { QueuedDocument, TeamDocuments } from './document-record.ts';
import { joined, timeDigits } from './json-table.ts';

/** A document whose creation was interrupted is due after it, and is then removed from the queue: it must not be created any more. */
const CREATION_MS = 60_000;
/** So much before: what the clocks of the store's servers may differ by, and the change may take. */
const CREATION_MARGIN_MS = 10_000;
/** How many open documents are counted at most. */
const COUNTED_MAX = 1000;
/** Of an index: takes Redis less than a millisecond. */
const PAGE = 1000;
const FILES_FAILED: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };
const TOO_SLOW: StoreUnavailable = { kind: 'unavailable', cause: 'late' };

/** What becomes of a record: `undefined` leaves it as it is, `null` removes it. */
interface Decided<Result, Value> extends Pick<GroupChange<unknown>, 'attach' | 'event'> {
  readonly result: Result;
  readonly next?: Value | null | undefined;
}

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

  create(
    document: Omit<DocumentRecord, 'createdAtMs' | 'untilMs'>,
    keepMs: number,
    file: NewDocumentFile,
    bounds: DocumentBounds,
  ): Promise<DocumentCreation | StoreUnavailable> {
    return answering(async (): Promise<DocumentCreation> => {
      const { documentId, teamId } = document;
      const storedBytes = bytesOf(file.pieces);
      const room = answered(await this.#change(document, (_known, all) => ({ result: roomOf(all, storedBytes, bounds) })));
      if (room !== 'room') return { kind: room ?? 'team_unknown' };
      const createdAtMs = answered(
        await this.#queued<number | undefined>(documentId, (known, nowMs, bytes) => {
          if (known !== undefined) return { result: nowMs };
          if (bytes + storedBytes > bounds.bytesMax) return { result: undefined };
          const times = { createdMs: nowMs, dueMs: nowMs + CREATION_MS, untilMs: nowMs + keepMs };
          return { result: nowMs, next: { teamId, bytes: storedBytes, ...times } };
        }),
      );
      if (createdAtMs === undefined) return { kind: 'full' };
      const whole: DocumentRecord = { ...document, createdAtMs, untilMs: createdAtMs + keepMs, storedBytes };
      const attach = answered(await this.#write(document, file));
      const created = await this.#change<DocumentCreation | StoreUnavailable>(document, (known, all, nowMs) => {
        if (known !== undefined) return { result: { kind: 'created', document: whole } };
        if (nowMs > createdAtMs + CREATION_MS - CREATION_MARGIN_MS) return { result: TOO_SLOW };
        const kind = roomOf(all, storedBytes, bounds);
        return kind === 'room' ? { result: { kind: 'created', document: whole }, next: whole, attach } : { result: { kind } };
      });
      const result: DocumentCreation = answered(created) ?? { kind: 'team_unknown' };
      if (result.kind !== 'created') await this.#drop(documentId);
      else await this.yield({ documentId, teamId, worker: '' }, 0);
      return result;
    });
  }

  async find(teamId: string, documentId: string): Promise<DocumentRecord | undefined | StoreUnavailable> {
    const found = await this.#space.read(teamId, [DOCUMENTS.name(documentId)]);
    return isUnavailable(found) ? found : DOCUMENTS.read(found[0]);
  }

  async list(teamId: string): Promise<readonly DocumentRecord[] | StoreUnavailable> {
    const found = await this.#space.list(teamId, 'documents');
    if (isUnavailable(found)) return found;
    return [...found.values()].map((text) => DOCUMENTS.read(text)).toSorted((one, other) => one.createdAtMs - other.createdAtMs);
  }

  async file({ documentId, teamId }: DueDocument, fileId: string): Promise<EntryPieces | undefined | StoreUnavailable> {
    return this.#folder === undefined ? this.#space.readBlob(teamId, fileId) : orFailed(this.#folder.read(documentId, fileId));
  }

  change(
    due: DueDocument,
    decide: (document: DocumentRecord) => DocumentRecord | undefined,
    file?: NewDocumentFile,
  ): Promise<DocumentRecord | undefined | StoreUnavailable> {
    return answering(async () => {
      const attach = file === undefined ? [] : answered(await this.#write(due, file));
      const changed = answered(
        await this.#change(due, (known, _all, nowMs) => {
          const decided = known && decide(known);
          if (known === undefined || decided === undefined) return { result: undefined };
          const kept = fileIdsOf(decided).length === 0 ? 0 : known.storedBytes;
          const next = { ...decided, storedBytes: file === undefined ? kept : bytesOf(file.pieces) };
          if (!isOpen(known) || isOpen(next)) return { result: { known, next }, next, attach };
          const ended = { ...next, endedAtMs: nowMs };
          return { result: { known, next: ended }, next: ended, attach, event: eventOf(ended) };
        }),
      );
      if (changed === undefined) {
        if (attach.length > 0) await this.#space.abandon(due.teamId, attach);
        if (file !== undefined) await this.#removeFile(due.documentId, file.fileId);
        return undefined;
      }
      const gone = goneFrom(changed.known, changed.next);
      for (const id of gone) await this.#removeFile(due.documentId, id);
      if (file !== undefined || gone.length > 0) await this.setBytes(due.documentId, bytesOf(file?.pieces ?? []));
      return changed.next;
    });
  }

  async remove(due: DueDocument): Promise<DocumentRecord | undefined | StoreUnavailable> {
    const removed = await this.#change(due, (known) => ({ result: known, next: known && null }));
    return isUnavailable(removed) ? removed : ((await this.#drop(due.documentId)) ?? removed);
  }

  async due(limit: number): Promise<readonly DueDocument[] | StoreUnavailable> {
    const found: PlacedDocument[] = [];
    for (let left = limit; left > 0; left -= PAGE) {
      const below = timeDigits(this.#nowMs() + 1);
      const page = await this.#page('documents_by_due', found.at(-1)?.place, Math.min(left, PAGE), below);
      if (isUnavailable(page)) return page;
      found.push(...page);
      if (page.length < PAGE) break;
    }
    return found;
  }

  newest(after: string | undefined, limit: number): Promise<readonly PlacedDocument[] | StoreUnavailable> {
    return this.#page('documents_by_age', after, limit);
  }

  async backlog(): Promise<DocumentBacklog | StoreUnavailable> {
    const open = await this.#page('documents_open', undefined, COUNTED_MAX);
    if (isUnavailable(open)) return open;
    const read = await this.#space.change<Omit<DocumentBacklog, 'open'>>(SHARED_RECORDS, [DOCUMENT_TOTALS], ([bytes], { nowMs }) => {
      const createdMs = Number.parseInt(open[0]?.place ?? String(nowMs), 10);
      return { result: { bytes: Number(bytes ?? 0), oldestMs: Math.max(0, nowMs - createdMs) } };
    });
    // The shared records always exist.
    return isUnavailable(read) ? read : { open: open.length, ...read! };
  }

  claim({ documentId, worker, leaseMs }: DocumentClaim): Promise<number | undefined | StoreUnavailable> {
    return this.#queued<number | undefined>(documentId, (known, nowMs) => {
      if (known === undefined || (known.worker !== worker && known.dueMs > nowMs)) return { result: undefined };
      return { result: nowMs, next: { ...known, worker, dueMs: nowMs + leaseMs } };
    });
  }

  yield({ documentId, worker }: Omit<DocumentClaim, 'leaseMs'>, afterMs: number | 'expiry'): Promise<StoreUnavailable | undefined> {
    return this.#queued(documentId, (known, nowMs) => {
      if (known === undefined || (known.worker ?? '') !== worker) return { result: undefined };
      const dueMs = afterMs === 'expiry' ? known.untilMs : nowMs + afterMs;
      const next = { ...known, worker: undefined, dueMs: known.untilMs > nowMs ? Math.min(known.untilMs, dueMs) : dueMs };
      return { result: undefined, next };
    });
  }

  async forgetTeam(teamId: string): Promise<StoreUnavailable | undefined> {
    const all = await this.#space.list(SHARED_RECORDS, 'documents');
    if (isUnavailable(all)) return all;
    for (const [documentId, text] of all) {
      const failed = QUEUE.read(text).teamId === teamId ? await this.#drop(documentId) : undefined;
      if (failed !== undefined) return failed;
    }
    return undefined;
  }

  /** Adds up the bytes of all documents again; for operators. */
  async recountBytes(): Promise<StoreUnavailable | undefined> {
    const all = await this.#space.list(SHARED_RECORDS, 'documents');
    if (isUnavailable(all)) return all;
    return this.#space.change(SHARED_RECORDS, [DOCUMENT_TOTALS, ...QUEUE.names([...all.keys()])], ([sum, ...texts]) => {
      const total = sumOf(texts.map((text) => QUEUE.read(text)?.bytes ?? 0));
      // What has come meanwhile is not among them: the next check finds it.
      return { result: undefined, ...(Number(sum ?? 0) === total ? {} : writtenBytes(total)) };
    });
  }

  /** Counts a team's documents again; for operators. */
  recountTeam(teamId: string): Promise<StoreUnavailable | undefined> {
    return answering(async () => {
      const [before] = answered(await this.#space.read(teamId, [DOCUMENT_TOTALS]));
      const names = DOCUMENTS.names([...answered(await this.#space.list(teamId, 'documents')).keys()]);
      const done = await this.#space.change(teamId, [DOCUMENT_TOTALS, ...names], ([counted, ...texts]) => {
        // What was created or removed meanwhile may not be among them: the next check finds what is still wrong.
        if (counted !== before) return { result: undefined };
        return { result: undefined, ...writtenOfTeam(teamDocuments(texts.flatMap((text) => DOCUMENTS.read(text) ?? []))) };
      });
      return answered(done);
    });
  }

  /** What its files have; if it fails, the sum is that of the file before, until the document is gone. */
  setBytes(documentId: string, bytes: number): Promise<StoreUnavailable | undefined> {
    return this.#queued(documentId, (known) => ({ result: undefined, next: known && { ...known, bytes } }));
  }

  /** Removes the entry in the queue, and what a folder has of the document. */
  async #drop(documentId: string): Promise<StoreUnavailable | undefined> {
    const failed = await orFailed(this.#folder?.removeAll(documentId));
    return failed ?? this.#queued(documentId, (known) => ({ result: undefined, next: known && null }));
  }

  async #page(
    index: RecordIndex,
    after: string | undefined,
    limit: number,
    below = '~',
  ): Promise<readonly PlacedDocument[] | StoreUnavailable> {
    const found = await this.#space.page(SHARED_RECORDS, { index, from: idAfter(after), below, limit });
    return isUnavailable(found) ? found : found.map(readPlace);
  }

  /** Changes a document of a team, with what the team has of documents. */
  #change<Result>(
    { documentId, teamId }: DueDocument,
    decide: (known: DocumentRecord | undefined, all: TeamDocuments, nowMs: number) => Decided<Result, DocumentRecord>,
  ): Promise<Result | undefined | StoreUnavailable> {
    return this.#space.change<Result>(teamId, [DOCUMENTS.name(documentId), DOCUMENT_TOTALS], ([text, totals], { nowMs }) => {
      const [known, all] = [DOCUMENTS.read(text), readOfTeam(totals)];
      const { result, next, attach, event } = decide(known, all, nowMs);
      if (next === undefined) return { result };
      const others = all.open.filter((id) => id !== documentId);
      const open = isOpen(known) === isOpen(next ?? undefined) ? all.open : isOpen(next ?? undefined) ? [...others, documentId] : others;
      const bytes = all.bytes - (known?.storedBytes ?? 0) + (next?.storedBytes ?? 0);
      const counted = open === all.open && bytes === all.bytes ? {} : writtenOfTeam({ open, bytes });
      const written = next === null ? DOCUMENTS.remove(documentId, known!) : DOCUMENTS.put(documentId, next);
      const detach = this.#folder === undefined ? goneFrom(known, next ?? undefined) : [];
      return { result, ...joined(written, counted), attach, detach, event };
    });
  }

  /** Changes an entry of the queue, and the sum of all bytes with it. */
  #queued<Result>(
    documentId: string,
    decide: (known: QueuedDocument | undefined, nowMs: number, bytes: number) => Decided<Result, QueuedDocument>,
  ): Promise<Result | undefined | StoreUnavailable> {
    return this.#space.change<Result>(SHARED_RECORDS, [QUEUE.name(documentId), DOCUMENT_TOTALS], ([text, totals], { nowMs }) => {
      const [known, bytes] = [QUEUE.read(text), Number(totals ?? 0)];
      const { result, next } = decide(known, nowMs, bytes);
      if (next === undefined) return { result };
      const more = (next?.bytes ?? 0) - (known?.bytes ?? 0);
      const written = next === null ? QUEUE.remove(documentId, known!) : QUEUE.put(documentId, next, known);
      return { result, ...joined(written, more === 0 ? {} : writtenBytes(bytes + more)) };
    });
  }

  /** Writes a file; returns the blobs for a change to attach. */
  async #write({ documentId, teamId }: DueDocument, file: NewDocumentFile): Promise<readonly NewBlob[] | StoreUnavailable> {
    if (this.#folder !== undefined) return (await orFailed(this.#folder.write(documentId, file))) ?? [];
    const blobs = [{ blobId: file.fileId, pieces: file.pieces }];
    return (await this.#space.prepare(teamId, blobs)) ?? blobs;
  }

  /** If it fails, the file goes with the document. */
  async #removeFile(documentId: string, fileId: string): Promise<void> {
    await orFailed(this.#folder?.remove(documentId, fileId));
  }
}

async function orFailed<T>(work: Promise<T> | undefined): Promise<T | undefined | StoreUnavailable> {
  try {
    return await work;
  } catch {
    return FILES_FAILED;
  }
}

function roomOf(
  { open, bytes }: TeamDocuments,
  more: number,
  { openMax, teamBytesMax }: DocumentBounds,
): 'room' | 'too_many' | 'team_full' {
  if (open.length >= openMax) return 'too_many';
  return bytes + more > teamBytesMax ? 'team_full' : 'room';
}

function goneFrom(before: DocumentRecord | undefined, after: DocumentRecord | undefined): readonly string[] {
  return fileIdsOf(before).filter((id) => !fileIdsOf(after).includes(id));
}

/** Of a document that has just ended. */
function eventOf({ documentId, keyId, format, state, code, billed }: DocumentRecord): NewEvent {
  const facts = { kind: 'document_done', documentId, keyId, format } as const;
  const id = eventIds.document(documentId);
  if (state === 'done') return { id, facts: { ...facts, state, characters: billed ?? 0 } };
  return { id, facts: { ...facts, state: 'error', code: code ?? 'internal_error', characters: 0 } };
}
