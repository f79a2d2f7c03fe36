// A document's record as text, and what can be read from it.
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { DocumentRecord } from '../../ports/documents.ts';
import type { RecordName } from '../../ports/record-space.ts';

/** Of a team: the documents that are queued or translating. */
export const OPEN: RecordName = { table: 'totals', id: 'documents' };

export function readDocument(text: string): DocumentRecord {
  return JSON.parse(text) as DocumentRecord;
}

export function readOpen(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? [] : text.split(' ');
}

export function isOpen({ state }: DocumentRecord): boolean {
  return state === 'queued' || state === 'translating';
}

export function fileIdsOf({ sourceId, resultId }: DocumentRecord): readonly string[] {
  return [sourceId, resultId].filter((id) => id !== undefined);
}

export function bytesOf(pieces: EntryPieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
