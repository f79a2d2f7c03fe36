// All operations, in the order of the document.
import type { AdminOperation } from '../operation.ts';
import { listAudit } from './audit.ts';
import { listDocuments } from './documents.ts';
import { deleteGlossary, listGlossaries } from './glossaries.ts';
import { listRequests } from './requests.ts';
import { deleteTag, listTags, setTag, showTag } from './tags.ts';

export const OPERATIONS: readonly AdminOperation[] = [
  listGlossaries,
  deleteGlossary,
  listTags,
  showTag,
  setTag,
  deleteTag,
  listAudit,
  listRequests,
  listDocuments,
];
