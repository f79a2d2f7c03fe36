// The records of tags in checks and copies; the ledger counts in them (ledger/tag-account.ts).
import type { TagCount } from '../../domain/request-tag.ts';
import type { StoredRecord } from '../../ports/record-space.ts';
import type { TagContents } from '../../ports/store-contents.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import { TAG_TABLES } from './record-tables.ts';

/** What is left of a record of `tag_days` without the days before `first`; '' for nothing. */
export function tagDaysSince(text: string, first: number): string {
  const days = text.split(' ');
  const at = days.findIndex((one) => Number.parseInt(one, 10) >= first);
  return at === -1 ? '' : days.slice(at).join(' ');
}

/** The characters in a tag's records of this day and later. */
export function chargedSince(first: number, count: string | undefined, days: string | undefined): number {
  const all = [...readTagDays(days), ...(count === undefined ? [] : [readTagCount(count)!])];
  return sumOf(
    all.filter(({ day }) => day >= first),
    'characters',
  );
}

function sumOf(days: readonly TagCount[], name: 'characters' | 'requests'): number {
  return days.reduce((sum, one) => sum + one[name], 0);
}

/** Of a team. */
export function tagContents(read: (table: TagTable) => ReadonlyMap<string, string>): TagContents {
  return Object.fromEntries(TAG_TABLES.map((table) => [table, Object.fromEntries(read(table))])) as Record<
    TagTable,
    Record<string, string>
  >;
}

export function tagRecords(tags: TagContents): StoredRecord[] {
  const records = TAG_TABLES.flatMap((table) => Object.entries(tags[table]).map(([id, value]) => ({ table, id, value })));
  return [...records, ...tagTotals(Object.keys(tags.tag_limits).length)];
}

/** How many tags of a team have settings. */
export function tagTotals(count: number): StoredRecord[] {
  return count === 0 ? [] : [{ table: 'totals', id: 'tag_limits', value: String(count) }];
}
