// Documents over a record space. A team's group has their records and files; the shared group has the queue, a record and index entries
// for each document, and the sum of all bytes. The queue's record is written first and removed last: it is what the janitor finds,
// whatever happens in between.
import type { EntryPieces } from '../../domain/entries-text.ts';
import { eventIds } from '../../domain/event-rules.ts';
import { answered, answering, answeringAll, storeErrorOf } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DocumentBounds,
  DocumentCreation,
  DocumentFolder,
  DocumentRecord,
  DocumentStore,
  DueDocument,
  NewDocumentFile,
  PlacedDocument,
} from '../../ports/documents.ts';
import type { NewBlob, NewEvent, RecordIndex, RecordName, RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup, JsonTable, latestFirst, timeDigits } from './json-table.ts';
import type { Decided, Writes } from './json-table.ts';

/** In the team's group. */
export const DOCUMENTS = new JsonTable<DocumentRecord>('documents');

/** Of the shared records. */
interface QueuedDocument {
  readonly teamId: string;
  /** Of its file. */
  readonly bytes: number;
  /** When it was created. */
  readonly createdMs: number;
  readonly dueMs: number;
  /** When it expires. */
  readonly untilMs: number;
  readonly worker?: string | undefined;
}

export const QUEUE = new JsonTable<QueuedDocument>('documents', (documentId, { createdMs, dueMs, untilMs, teamId }) => {
  const of = `${documentId} ${teamId}`;
  return [
    { index: 'documents_by_due', id: `${timeDigits(dueMs)} ${of}` },
    { index: 'documents_by_age', id: `${latestFirst(createdMs)} ${of}` },
    // What has ended is due when it expires.
    ...(dueMs < untilMs ? [{ index: 'documents_open', id: `${timeDigits(createdMs)} ${of}` } as const] : []),
  ];
});

/** In the shared group the bytes of all documents; in a team's, what it has. Without documents there is none. */
export const DOCUMENT_TOTALS: RecordName = { table: 'totals', id: 'documents' };

/** Which documents of a team are queued or translating, and the bytes of all its files. */
interface TeamDocuments {
  readonly open: readonly string[];
  readonly bytes: number;
}

/** A document whose creation was interrupted is due after it, and is then removed from the queue: it must not be created any more. */
const CREATION_MS = 60_000;
/** So much before: what the clocks of the store's servers may differ by, and the change may take. */
const CREATION_MARGIN_MS = 10_000;
/** How many open documents are counted at most. */
const COUNTED_MAX = 1000;
/** Of an index: takes Redis less than a millisecond. */
const PAGE = 1000;
const FILES_FAILED: StoreUnavailable = { kind: 'unavailable', cause: 'documents' };
const TOO_SLOW: StoreUnavailable = { kind: 'unavailable', cause: 'overdue' };

export interface RecordDocuments extends DocumentStore {
  /** What its files have; if it fails, the sum is that of the file before, until the document is gone. */
  setBytes(documentId: string, bytes: number): Promise<StoreUnavailable | undefined>;
  /** Adds up the bytes of all documents again; for operators. */
  recountBytes(): Promise<StoreUnavailable | undefined>;
  /** Counts a team's documents again; for operators. */
  recountTeam(teamId: string): Promise<StoreUnavailable | undefined>;
}

/** `time`: the store's as far as it is known; `folder`: where files are, if not in the store. */
export function recordDocuments(space: RecordSpace, time: () => number, folder?: DocumentFolder): RecordDocuments {
  const shared = new RecordGroup(space);

  /** Changes a document of a team, with what the team has of documents. */
  const change = <Result>(
    { documentId, teamId }: DueDocument,
    decide: (known: DocumentRecord | undefined, all: TeamDocuments, nowMs: number) => Decided<Result, DocumentRecord>,
  ) =>
    DOCUMENTS.change<Result>(new RecordGroup(space, teamId), documentId, [DOCUMENT_TOTALS], (known, { nowMs }, [totals]) => {
      const all = readOfTeam(totals);
      const decided = decide(known, all, nowMs);
      if (decided.next === undefined) return decided;
      const after = decided.next ?? undefined;
      const others = all.open.filter((id) => id !== documentId);
      const open = isOpen(known) === isOpen(after) ? all.open : isOpen(after) ? [...others, documentId] : others;
      const bytes = all.bytes - (known?.storedBytes ?? 0) + (after?.storedBytes ?? 0);
      const counted = open === all.open && bytes === all.bytes ? {} : writtenOfTeam({ open, bytes });
      return { ...decided, ...counted, detach: folder === undefined ? goneFrom(known, after) : [] };
    });

  /** Changes an entry of the queue, and the sum of all bytes with it. */
  const queued = <Result>(
    documentId: string,
    decide: (known: QueuedDocument | undefined, nowMs: number, bytes: number) => Decided<Result, QueuedDocument>,
  ) =>
    QUEUE.change<Result>(shared, documentId, [DOCUMENT_TOTALS], (known, { nowMs }, [totals]) => {
      const bytes = Number(totals ?? 0);
      const decided = decide(known, nowMs, bytes);
      const more = decided.next === undefined ? 0 : (decided.next?.bytes ?? 0) - (known?.bytes ?? 0);
      return more === 0 ? decided : { ...decided, ...writtenBytes(bytes + more) };
    });

  /** Removes the entry in the queue, and what a folder has of the document. */
  const drop = async (documentId: string) => {
    await filesOf(folder?.removeAll(documentId));
    await queued(documentId, () => ({ result: undefined, next: null }));
  };

  /** Writes a file; returns the blobs for a change to attach. */
  const write = async ({ documentId, teamId }: DueDocument, file: NewDocumentFile): Promise<readonly NewBlob[]> => {
    if (folder !== undefined) {
      await filesOf(folder.write(documentId, file));
      return [];
    }
    const blobs = [{ blobId: file.fileId, pieces: file.pieces }];
    answered(await space.prepare(teamId, blobs));
    return blobs;
  };

  const pageOf = async (index: RecordIndex, after: string | undefined, limit: number, below = '~') =>
    (await shared.page({ index, from: idAfter(after), below, limit })).map(readPlace);

  const yieldClaim: DocumentStore['yield'] = ({ documentId, worker }, afterMs) =>
    queued(documentId, (known, nowMs) => {
      if (known === undefined || (known.worker ?? '') !== worker) return { result: undefined };
      const dueMs = afterMs === 'expiry' ? known.untilMs : nowMs + afterMs;
      const next = { ...known, worker: undefined, dueMs: known.untilMs > nowMs ? Math.min(known.untilMs, dueMs) : dueMs };
      return { result: undefined, next };
    });

  const setBytes: RecordDocuments['setBytes'] = (documentId, bytes) =>
    queued(documentId, (known) => ({ result: undefined, next: known && { ...known, bytes } }));

  return answeringAll<RecordDocuments>({
    setBytes,
    yield: yieldClaim,
    async create(document, keepMs, file, bounds) {
      const { documentId, teamId } = document;
      const storedBytes = bytesOf(file.pieces);
      const room = await change(document, (_known, all) => ({ result: roomOf(all, storedBytes, bounds) }));
      if (room !== 'room') return { kind: room ?? 'team_unknown' };
      const createdAtMs = await queued<number | undefined>(documentId, (known, nowMs, bytes) => {
        if (known !== undefined) return { result: nowMs };
        if (bytes + storedBytes > bounds.bytesMax) return { result: undefined };
        const times = { createdMs: nowMs, dueMs: nowMs + CREATION_MS, untilMs: nowMs + keepMs };
        return { result: nowMs, next: { teamId, bytes: storedBytes, ...times } };
      });
      if (createdAtMs === undefined) return { kind: 'full' };
      const begun = { state: 'queued', failures: 0, createdAtMs, untilMs: createdAtMs + keepMs } as const;
      const whole: DocumentRecord = { ...document, ...begun, sourceId: file.fileId, storedBytes };
      const attach = await write(document, file);
      const created = await change<DocumentCreation | StoreUnavailable>(document, (known, all, nowMs) => {
        if (known !== undefined) return { result: { kind: 'created', document: whole } };
        if (nowMs > createdAtMs + CREATION_MS - CREATION_MARGIN_MS) return { result: TOO_SLOW };
        const kind = roomOf(all, storedBytes, bounds);
        return kind === 'room' ? { result: { kind: 'created', document: whole }, next: whole, attach } : { result: { kind } };
      });
      const result: DocumentCreation = created ?? { kind: 'team_unknown' };
      // If this fails, its entry in the queue is due a minute after it.
      await answering(async () => {
        if (result.kind !== 'created') await drop(documentId);
        else await yieldClaim({ documentId, teamId, worker: '' }, 0);
      });
      return result;
    },
    find: (teamId, documentId) => DOCUMENTS.find(new RecordGroup(space, teamId), documentId),
    async list(teamId) {
      const found = await DOCUMENTS.list(new RecordGroup(space, teamId));
      return found.map(([, document]) => document).toSorted((one, other) => one.createdAtMs - other.createdAtMs);
    },
    file: ({ documentId, teamId }, fileId) =>
      folder === undefined ? space.readBlob(teamId, fileId) : filesOf(folder.read(documentId, fileId)),
    async change(due, decide, file) {
      const attach = file === undefined ? [] : await write(due, file);
      const changed = await change(due, (known, _all, nowMs) => {
        const decided = known && decide(known);
        if (known === undefined || decided === undefined) return { result: undefined };
        const stored = fileIdsOf(decided).length === 0 ? 0 : known.storedBytes;
        const next = { ...decided, storedBytes: file === undefined ? stored : bytesOf(file.pieces) };
        if (!isOpen(known) || isOpen(next)) return { result: { known, next }, next, attach };
        const ended = { ...next, endedAtMs: nowMs };
        return { result: { known, next: ended }, next: ended, attach, event: eventOf(ended) };
      });
      if (changed === undefined && attach.length > 0) await space.abandon(due.teamId, attach);
      const written = file === undefined ? [] : [file.fileId];
      const gone = changed === undefined ? written : goneFrom(changed.known, changed.next);
      // A file whose removal fails goes with the document; a sum that is not written is that of the file before.
      for (const id of gone) await answering(() => filesOf(folder?.remove(due.documentId, id)));
      if (changed === undefined) return undefined;
      if (file !== undefined || gone.length > 0) await answering(() => setBytes(due.documentId, bytesOf(file?.pieces ?? [])));
      return changed.next;
    },
    async remove(due) {
      const removed = await change(due, (known) => ({ result: known, next: null }));
      await drop(due.documentId);
      return removed;
    },
    async due(limit) {
      const found: PlacedDocument[] = [];
      for (let left = limit; left > 0; left -= PAGE) {
        const page = await pageOf('documents_by_due', found.at(-1)?.place, Math.min(left, PAGE), timeDigits(time() + 1));
        found.push(...page);
        if (page.length < PAGE) break;
      }
      return found;
    },
    newest: (after, limit) => pageOf('documents_by_age', after, limit),
    async backlog() {
      const open = await pageOf('documents_open', undefined, COUNTED_MAX);
      const read = await shared.change([DOCUMENT_TOTALS], ([bytes], { nowMs }) => {
        const createdMs = Number.parseInt(open[0]?.place ?? String(nowMs), 10);
        return { result: { bytes: Number(bytes ?? 0), oldestMs: Math.max(0, nowMs - createdMs) } };
      });
      // The shared records always exist.
      return { open: open.length, ...read! };
    },
    claim: ({ documentId, worker, leaseMs }) =>
      queued<number | undefined>(documentId, (known, nowMs) => {
        if (known === undefined || (known.worker !== worker && known.dueMs > nowMs)) return { result: undefined };
        return { result: nowMs, next: { ...known, worker, dueMs: nowMs + leaseMs } };
      }),
    async forgetTeam(teamId) {
      for (const [documentId, entry] of await QUEUE.list(shared)) if (entry.teamId === teamId) await drop(documentId);
    },
    async recountBytes() {
      const names = QUEUE.names([...(await shared.list('documents')).keys()]);
      await shared.change([DOCUMENT_TOTALS, ...names], ([sum, ...texts]) => {
        const total = sumOf(texts.map((text) => QUEUE.read(text)?.bytes ?? 0));
        // What has come meanwhile is not among them: the next check finds it.
        return { result: undefined, ...(Number(sum ?? 0) === total ? {} : writtenBytes(total)) };
      });
    },
    async recountTeam(teamId) {
      const team = new RecordGroup(space, teamId);
      const [before] = await team.read([DOCUMENT_TOTALS]);
      const names = DOCUMENTS.names([...(await team.list('documents')).keys()]);
      await team.change([DOCUMENT_TOTALS, ...names], ([counted, ...texts]) => {
        // What was created or removed meanwhile may not be among them: the next check finds what is still wrong.
        if (counted !== before) return { result: undefined };
        return { result: undefined, ...writtenOfTeam(teamDocuments(texts.flatMap((text) => DOCUMENTS.read(text) ?? []))) };
      });
    },
  });
}

/** What a folder does: it says nothing of how it fails. */
async function filesOf<T>(work: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await work;
  } catch {
    throw storeErrorOf(FILES_FAILED);
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

/** Of an entry in one of its indexes: the document, and its place there, which begins with the entry's time. */
function readPlace(id: string): PlacedDocument {
  const [time = '', documentId = '', teamId = ''] = id.split(' ');
  return { documentId, teamId, place: `${time}-${documentId}` };
}

/** The first id after a place; `''` for the beginning. */
function idAfter(place: string | undefined): string {
  // A space comes before every sign of a team's id.
  return place === undefined ? '' : `${place.replace('-', ' ')}!`;
}

export function readOfTeam(text: string | undefined): TeamDocuments {
  return text === undefined ? { open: [], bytes: 0 } : (JSON.parse(text) as TeamDocuments);
}

function writtenOfTeam({ open, bytes }: TeamDocuments): Writes {
  return writtenTotals(open.length === 0 && bytes <= 0 ? undefined : JSON.stringify({ open, bytes: Math.max(0, bytes) }));
}

function writtenBytes(bytes: number): Writes {
  return writtenTotals(bytes <= 0 ? undefined : String(bytes));
}

function writtenTotals(value: string | undefined): Writes {
  return value === undefined ? { remove: [DOCUMENT_TOTALS] } : { put: [{ ...DOCUMENT_TOTALS, value }] };
}

function isOpen(document: DocumentRecord | undefined): boolean {
  return document?.state === 'queued' || document?.state === 'translating';
}

/** As the documents of a team say it. */
export function teamDocuments(documents: readonly DocumentRecord[]): TeamDocuments {
  return { open: documents.filter(isOpen).map(({ documentId }) => documentId), bytes: sumOf(documents.map((one) => one.storedBytes ?? 0)) };
}

export function fileIdsOf(document: DocumentRecord | undefined): readonly string[] {
  return [document?.sourceId, document?.resultId].filter((id) => id !== undefined);
}

export function bytesOf(pieces: EntryPieces): number {
  return sumOf(pieces.map(({ length }) => length));
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
