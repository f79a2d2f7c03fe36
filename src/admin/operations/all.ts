// All operations, in the order of the document.
import type { AdminOperation } from '../operation.ts';
import { listAudit } from './audit.ts';
import { listDocuments } from './documents.ts';
import { deleteGlossary, listGlossaries } from './glossaries.ts';
import { createKey, findKeys, listKeys, revokeKey, updateKey } from './keys.ts';
import { listInvoices } from './invoices.ts';
import { listRequests } from './requests.ts';
import { listUsage } from './usage.ts';
import { deleteTag, listTags, setTag, showTag } from './tags.ts';

export const OPERATIONS: readonly AdminOperation[] = [
  listUsage,
  listInvoices,
  listKeys,
  createKey,
  updateKey,
  revokeKey,
  findKeys,
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
