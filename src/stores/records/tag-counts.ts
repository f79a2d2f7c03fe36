// The records of tags outside of the ledger, which counts in them (ledger/tag-account.ts).
import type { TagCount } from '../../domain/request-tag.ts';
import type { StoredRecord } from '../../ports/record-space.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';

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

/** How many tags of a team have settings. */
export function tagTotals(count: number): StoredRecord[] {
  return count === 0 ? [] : [{ table: 'totals', id: 'tag_limits', value: String(count) }];
}
