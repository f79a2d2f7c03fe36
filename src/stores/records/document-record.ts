// A document's record as text, and what can be read from it.
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { DocumentRecord } from '../../ports/documents.ts';
import type { GroupChange, RecordName } from '../../ports/record-space.ts';

/** What a team has of documents: which are queued or translating, and the bytes of all its files. */
export interface TeamDocuments {
  readonly open: readonly string[];
  readonly bytes: number;
}

export const OF_TEAM: RecordName = { table: 'totals', id: 'documents' };

export function readDocument(text: string): DocumentRecord {
  return JSON.parse(text) as DocumentRecord;
}

export function readOfTeam(text: string | undefined): TeamDocuments {
  return text === undefined ? { open: [], bytes: 0 } : (JSON.parse(text) as TeamDocuments);
}

/** What writes it; a team without documents has none. */
export function ofTeam({ open, bytes }: TeamDocuments): Pick<GroupChange<unknown>, 'put' | 'remove'> {
  if (open.length === 0 && bytes <= 0) return { remove: [OF_TEAM] };
  return { put: [{ ...OF_TEAM, value: JSON.stringify({ open, bytes: Math.max(0, bytes) }) }] };
}

export function isOpen({ state }: DocumentRecord): boolean {
  return state === 'queued' || state === 'translating';
}

/** As the documents of a team say it. */
export function teamDocuments(documents: readonly DocumentRecord[]): TeamDocuments {
  return {
    open: documents.filter(isOpen).map(({ documentId }) => documentId),
    bytes: documents.reduce((sum, { storedBytes = 0 }) => sum + storedBytes, 0),
  };
}

export function fileIdsOf({ sourceId, resultId }: DocumentRecord): readonly string[] {
  return [sourceId, resultId].filter((id) => id !== undefined);
}

export function bytesOf(pieces: EntryPieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
