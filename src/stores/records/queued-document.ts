// The entry of a document in the queue of all teams, and its places in the indexes: what is due, what is at work, and what there is.
import type { PlacedDocument } from '../../ports/documents.ts';
import type { IndexEntry, RecordName } from '../../ports/record-space.ts';

export interface QueuedDocument {
  readonly teamId: string;
  /** Of its file. */
  readonly bytes: number;
  /** When it was created. */
  readonly createdMs: number;
  readonly dueMs: number;
  /** When it expires. */
  readonly untilMs: number;
  readonly worker?: string;
}

const TIME_DIGITS = 15;
const LATEST_MS = 10 ** TIME_DIGITS - 1;
/** The sum of all bytes; no document has this id. */
export const SUM: RecordName = { table: 'documents', id: 'bytes' };

export function queueName(documentId: string): RecordName {
  return { table: 'documents', id: documentId };
}

export function readQueued(text: string): QueuedDocument {
  return JSON.parse(text) as QueuedDocument;
}

export function putOf(documentId: string, queued: QueuedDocument) {
  return [{ ...queueName(documentId), value: JSON.stringify(queued) }];
}

/** Its places, in place of those that it had before. */
export function placed(documentId: string, before: QueuedDocument | undefined, queued: QueuedDocument) {
  const index = entriesOf(documentId, queued);
  const isKept = (entry: IndexEntry): boolean => index.some((one) => one.index === entry.index && one.id === entry.id);
  const unindex = before === undefined ? [] : entriesOf(documentId, before).filter((entry) => !isKept(entry));
  return { index, unindex };
}

export function moved(documentId: string, before: QueuedDocument, queued: QueuedDocument) {
  return { ...placed(documentId, before, queued), put: putOf(documentId, queued) };
}

export function entriesOf(documentId: string, queued: QueuedDocument): readonly IndexEntry[] {
  const { createdMs, dueMs, untilMs, teamId } = queued;
  const of = `${documentId} ${teamId}`;
  return [
    { index: 'documents_by_due', id: `${digits(dueMs)} ${of}` },
    { index: 'documents_by_age', id: `${digits(LATEST_MS - createdMs)} ${of}` },
    // What has ended is due when it expires.
    ...(dueMs < untilMs ? [{ index: 'documents_open', id: `${digits(createdMs)} ${of}` } as const] : []),
  ];
}

export function digits(ms: number): string {
  return String(Math.max(0, ms)).padStart(TIME_DIGITS, '0');
}

export function readPlace(id: string): PlacedDocument {
  const [time = '', documentId = '', teamId = ''] = id.split(' ');
  return { documentId, teamId, place: `${time}-${documentId}` };
}

/** When the document at this place of those that are open was created. */
export function createdAt({ place }: PlacedDocument): number {
  return Number(place.slice(0, TIME_DIGITS));
}

/** The first id after a place; `''` for the beginning. */
export function idAfter(place: string | undefined): string {
  // A space comes before every sign of a team's id.
  return place === undefined ? '' : `${place.replace('-', ' ')}!`;
}
