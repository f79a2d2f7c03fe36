// A team's records among the contents of a store: read for checks and copies, and written again.
import type { StoredRecord } from '../../ports/record-space.ts';
import type { TeamContents } from '../../ports/store-contents.ts';
import { glossaryTableRecords, readGlossaryTables } from './glossary-record.ts';
import type { ReadTable } from './glossary-record.ts';
import { tagContents, tagRecords } from './tag-counts.ts';

type RecordContents = Pick<TeamContents, 'refusals' | 'tags' | 'glossaries' | 'glossaryBytes'>;

/** `blobIds`: of the attached blobs. What contradicts itself is passed to `found`. */
export function recordContents(table: ReadTable, blobIds: Iterable<string>, found: (what: string, detail: string) => void): RecordContents {
  return { refusals: table('refusals'), tags: tagContents(table), ...readGlossaryTables(table, blobIds, found) };
}

/** All records to write, but no documents: these are not copied. */
export function recordsToWrite({ refusals, tags, glossaries, glossaryBytes }: RecordContents): readonly StoredRecord[] {
  const ofRefusals = [...refusals].map(([id, value]): StoredRecord => ({ table: 'refusals', id, value }));
  return [...glossaryTableRecords(glossaries, glossaryBytes), ...tagRecords(tags), ...ofRefusals];
}
