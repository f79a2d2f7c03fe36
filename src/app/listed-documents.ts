// The documents of a store for operators, who see none of their files.
import type { DocumentStore } from '../ports/documents.ts';
import type { Store } from '../ports/store.ts';
import { RecordDocuments } from '../stores/records/record-documents.ts';

export function documentsOf({ records }: Pick<Store, 'records'>, nowMs: () => number): DocumentStore {
  return new RecordDocuments(records, nowMs);
}
