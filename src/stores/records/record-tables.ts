// The tables of the record space, for stores that go through all of them.
import type { TagTable } from '../../ledger/tag-account.ts';
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';

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
type TeamTable = (typeof RECORD_TABLES)[number];

/** A table of a whole account. */
export function recordsOf({ records }: Pick<WholeAccount, 'records'>, name: TeamTable): ReadonlyMap<string, string> {
  return new Map(records.filter(({ table }) => table === name).map(({ id, value }) => [id, value]));
}

/** The shared ones: whether a copy of a store has them, with which indexes. A store with nothing but what is left counts as empty. */
const SHARED: Readonly<
  Record<Exclude<RecordTable, 'glossaries' | 'pairs' | 'refusals' | 'totals' | TagTable>, readonly RecordIndex[] | 'left'>
> = {
  engines: [],
  requests: ['requests_by_end'],
  events: ['events_by_due'],
  reported: [],
  // Copied entry by entry (`AuditLog`).
  audit: 'left',
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
};

const COPIED = Object.entries(SHARED).filter(([, indexes]) => indexes !== 'left') as [RecordTable, readonly RecordIndex[]][];
const COPIED_INDEXES: readonly string[] = COPIED.flatMap(([, indexes]) => indexes);
export const COPIED_SHARED_TABLES = COPIED.flatMap(([table, indexes]) => [table, ...indexes]);

/** Of a copied one. */
export function isIndex(name: RecordTable | RecordIndex): name is RecordIndex {
  return COPIED_INDEXES.includes(name);
}
