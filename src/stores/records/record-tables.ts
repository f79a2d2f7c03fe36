// The tables of the record space, for stores that go through all of them.
import type { RecordTable } from '../../ports/record-space.ts';

const ALL: Readonly<Record<RecordTable, true>> = { glossaries: true, pairs: true, totals: true, refusals: true };

export const RECORD_TABLES = Object.keys(ALL) as readonly RecordTable[];
