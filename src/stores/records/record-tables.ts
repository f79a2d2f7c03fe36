// The tables of the record space, for stores that go through all of them.
import type { TagTable } from '../../ledger/tag-account.ts';
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';

/** Read and written by the ledger (ports/record-space.ts). */
const TAG_TABLES = ['tag_counts', 'tag_days', 'tag_limits', 'tag_uses'] as const satisfies readonly RecordTable[];
/** Those of teams. */
export const RECORD_TABLES = [
  'glossaries',
  'pairs',
  'totals',
  'refusals',
  'documents',
  ...TAG_TABLES,
] as const satisfies readonly RecordTable[];
export type TeamTable = (typeof RECORD_TABLES)[number];
const INDEXES: Readonly<Record<RecordIndex, true>> = {
  requests_by_end: true,
  documents_by_due: true,
  documents_by_age: true,
  documents_open: true,
  events_by_due: true,
  audit_by_time: true,
  audit_by_team: true,
};
/** What a copy of a store does with it. A store with nothing but what is left behind counts as empty. */
const SHARED: Readonly<
  Record<Exclude<RecordTable, 'glossaries' | 'pairs' | 'refusals' | 'totals' | TagTable> | RecordIndex, 'copied' | 'left'>
> = {
  engines: 'copied',
  requests: 'copied',
  requests_by_end: 'copied',
  events: 'copied',
  events_by_due: 'copied',
  reported: 'copied',
  // Copied entry by entry (`AuditLog`).
  audit: 'left',
  audit_by_time: 'left',
  audit_by_team: 'left',
  // Of running processes.
  claims: 'left',
  gateways: 'left',
  clock: 'left',
  senders: 'left',
  copies: 'left',
  secrets: 'left',
  sign_ins: 'left',
  // Files are not copied: they are gone after hours, and what is reserved for them with its lease.
  documents: 'left',
  documents_by_due: 'left',
  documents_by_age: 'left',
  documents_open: 'left',
};

type AnyTable = RecordTable | RecordIndex;

const SHARED_TABLES = Object.keys(SHARED) as readonly (keyof typeof SHARED)[];
export const COPIED_SHARED_TABLES = SHARED_TABLES.filter((name) => SHARED[name] === 'copied');

export function isIndex(name: AnyTable): name is RecordIndex {
  return name in INDEXES;
}
