// Pages that are a list of rows and nothing else.
import { listAudit } from '../../admin/operations/audit.ts';
import { listDocuments } from '../../admin/operations/documents.ts';
import { listRequests } from '../../admin/operations/requests.ts';
import { get } from '../console-route.ts';
import type { ConsoleRoute } from '../console-route.ts';
import { listPage } from '../operation-page.ts';

const DOCUMENTS =
  "Files that teams have sent, until they expire. Neither their names nor their texts are shown: they are the customers'. Only the sender sees why a file was refused.";
const REQUESTS =
  'The latest that were refused, failed, or needed a second attempt. Each process keeps 1,000 refusals and 1,000 failures in memory; the log has all.';

export const LIST_ROUTES: readonly ConsoleRoute[] = [
  get('/requests', listPage({ one: listRequests, path: '/requests', section: 'requests', title: 'Requests', intro: REQUESTS })),
  get('/documents', listPage({ one: listDocuments, path: '/documents', section: 'documents', title: 'Documents', intro: DOCUMENTS })),
  get('/audit', listPage({ one: listAudit, path: '/audit', section: 'audit', title: 'Audit', of: 'Changes', pageSize: 25 })),
];
