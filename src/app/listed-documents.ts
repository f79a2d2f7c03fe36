// The documents of a store for operators, who see none of their files.
import { DocumentOperations } from '../admin/document-operations.ts';
import type { Store } from '../ports/store.ts';
import { RecordDocuments } from '../stores/records/record-documents.ts';

export function documentOperationsOf({ records, teams }: Pick<Store, 'records' | 'teams'>, nowMs: () => number): DocumentOperations {
  return new DocumentOperations({ documents: new RecordDocuments(records, nowMs), teams });
}
