// The records of tags in checks and copies; the ledger counts in them (ledger/tag-account.ts).
import { dayOf } from '../../domain/period.ts';
import type { TagCount } from '../../domain/request-tag.ts';
import type { StoredRecord } from '../../ports/record-space.ts';
import type { TagContents } from '../../ports/store-contents.ts';
import { readTagCount, readTagDays } from '../../ledger/tag-account.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import { usesUntil } from '../../ledger/tag-uses.ts';
import { TAG_TABLES } from './record-tables.ts';

/** What is left of a record of `tag_days` without the days before `first`; '' for nothing. */
export function tagDaysSince(text: string, first: number): string {
  const days = text.split(' ');
  const at = days.findIndex((one) => Number.parseInt(one, 10) >= first);
  return at === -1 ? '' : days.slice(at).join(' ');
}

/** The period that runs, and what is held in it by tag. */
interface PeriodOfTags {
  readonly number: number;
  readonly startMs: number;
  readonly held: ReadonlyMap<string, number>;
}

/**
 * What was counted on days to come happened by today, as that of a team's keys (clock-repair.ts), and what is used of a period to come
 * is of the one that runs.
 */
export function tagsUntil(tags: TagContents, today: number, period: PeriodOfTags): TagContents {
  const moved = Object.entries(tags.tag_counts).map(([tag, text]): readonly [string, string, string] => {
    const days = [...readTagDays(tags.tag_days[tag]), readTagCount(text)!].map((one) => ({ ...one, day: Math.min(one.day, today) }));
    const last = days.at(-1)!;
    const ofLast = days.filter(({ day }) => day === last.day);
    const [characters, requests] = [sumOf(ofLast, 'characters'), sumOf(ofLast, 'requests')];
    const earlier = days.filter(({ day }) => day !== last.day).map((one) => `${one.day}:${one.characters}:${one.requests}`);
    return [tag, `${last.day} ${characters} ${requests}`, earlier.join(' ')];
  });
  return {
    tag_counts: Object.fromEntries(moved.map(([tag, count]) => [tag, count])),
    tag_days: Object.fromEntries(moved.filter(([, , earlier]) => earlier !== '').map(([tag, , earlier]) => [tag, earlier])),
    tag_limits: tags.tag_limits,
    tag_uses: Object.fromEntries(
      Object.entries(tags.tag_uses).map(([tag, text]) => {
        const charged = chargedSince(dayOf(period.startMs), tags.tag_counts[tag], tags.tag_days[tag]);
        return [tag, usesUntil(text, period.number, charged + (period.held.get(tag) ?? 0))];
      }),
    ),
  };
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
