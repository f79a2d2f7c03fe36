// Documents as records: a team's, and their entries in the queue of all teams; and the sums that follow from them.
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { DocumentRecord, PlacedDocument } from '../../ports/documents.ts';
import type { RecordName, StoredRecord } from '../../ports/record-space.ts';
import { JsonTable, latestFirst, timeDigits } from './json-table.ts';

/** In the team's group. */
export const DOCUMENTS = new JsonTable<DocumentRecord>('documents');

/** Of the shared records. */
export interface QueuedDocument {
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

/** Of an entry in one of its indexes: the document, and its place there, which begins with the entry's time. */
export function readPlace(id: string): PlacedDocument {
  const [time = '', documentId = '', teamId = ''] = id.split(' ');
  return { documentId, teamId, place: `${time}-${documentId}` };
}

/** The first id after a place; `''` for the beginning. */
export function idAfter(place: string | undefined): string {
  // A space comes before every sign of a team's id.
  return place === undefined ? '' : `${place.replace('-', ' ')}!`;
}

/** In the shared group the bytes of all documents; in a team's, what it has. Without documents there is none. */
export const DOCUMENT_TOTALS: RecordName = { table: 'totals', id: 'documents' };

/** Which documents of a team are queued or translating, and the bytes of all its files. */
export interface TeamDocuments {
  readonly open: readonly string[];
  readonly bytes: number;
}

export function readOfTeam(text: string | undefined): TeamDocuments {
  return text === undefined ? { open: [], bytes: 0 } : (JSON.parse(text) as TeamDocuments);
}

export function writtenOfTeam({ open, bytes }: TeamDocuments): TotalsChange {
  return totals(open.length === 0 && bytes <= 0 ? undefined : JSON.stringify({ open, bytes: Math.max(0, bytes) }));
}

export function writtenBytes(bytes: number): TotalsChange {
  return totals(bytes <= 0 ? undefined : String(bytes));
}

interface TotalsChange {
  readonly put: readonly StoredRecord[];
  readonly remove: readonly RecordName[];
}

function totals(value: string | undefined): TotalsChange {
  return value === undefined ? { put: [], remove: [DOCUMENT_TOTALS] } : { put: [{ ...DOCUMENT_TOTALS, value }], remove: [] };
}

export function isOpen(document: DocumentRecord | undefined): boolean {
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
