// The tables of the record space, for stores that go through all of them.
import type { RecordIndex, RecordTable } from '../../ports/record-space.ts';

/** Read and written by the ledger (ports/record-space.ts). */
export const TAG_TABLES = ['tag_counts', 'tag_days', 'tag_limits', 'tag_uses'] as const satisfies readonly RecordTable[];
export type TagTable = (typeof TAG_TABLES)[number];
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
  requests_by_team: true,
  documents_by_due: true,
  documents_by_age: true,
  documents_open: true,
  events_by_due: true,
};
/** `copied`: whether a copy of a store has it, and a store with nothing else counts as empty if not. */
const SHARED: Readonly<
  Record<Exclude<RecordTable, 'glossaries' | 'pairs' | 'refusals' | TagTable> | RecordIndex, { readonly copied: boolean }>
> = {
  totals: { copied: true },
  engines: { copied: true },
  requests: { copied: true },
  requests_by_end: { copied: true },
  requests_by_team: { copied: true },
  // Of running processes.
  claims: { copied: false },
  gateways: { copied: false },
  clock: { copied: false },
  events: { copied: false },
  events_by_due: { copied: false },
  senders: { copied: false },
  // Copied as a part of teams.
  told: { copied: false },
  copies: { copied: false },
  secrets: { copied: false },
  sign_ins: { copied: false },
  // Files are not copied: they are gone after hours, and what is reserved for them with its lease.
  documents: { copied: false },
  documents_by_due: { copied: false },
  documents_by_age: { copied: false },
  documents_open: { copied: false },
};

type AnyTable = RecordTable | RecordIndex;

const SHARED_TABLES = Object.keys(SHARED) as readonly (keyof typeof SHARED)[];
export const COPIED_SHARED_TABLES = SHARED_TABLES.filter((name) => SHARED[name].copied);
export const UNCOPIED_SHARED_TABLES = SHARED_TABLES.filter((name) => !SHARED[name].copied);

export function isIndex(name: AnyTable): name is RecordIndex {
  return name in INDEXES;
}
