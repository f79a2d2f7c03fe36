// The records in which ledgers count charges by tag and day (`tag_counts`, `tag_days`): their format, and the rules in one place.
import { dayOf } from '../../domain/period.ts';
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import type { RequestTag, TagCount } from '../../domain/request-tag.ts';
import type { StoredRecord } from '../../ports/record-space.ts';
import type { TagContents } from '../../ports/store-contents.ts';
import { usesUntil } from './tag-uses.ts';
import { TAG_TABLES } from './record-tables.ts';
import type { TagTable } from './record-tables.ts';

/** A team's records of tags, within the operation that charges. */
export interface TagRecords {
  get(table: TagTable, tag: string): string | undefined;
  put(table: TagTable, tag: string, value: string): void;
  /** How many records `tag_counts` has. */
  count(): number;
}

/**
 * Counts a charge: for the tag, or for `FURTHER_TAGS` if the team has as many others as it may. If another day has begun, the day so
 * far is moved to the end of the tag's list; it may be a later one, if the clock has stepped back.
 */
export function countTag(records: TagRecords, { name, distinctMax }: RequestTag, characters: number, day: number): void {
  const known = records.get('tag_counts', name);
  const furthers = known === undefined ? records.get('tag_counts', FURTHER_TAGS) : undefined;
  const others = known === undefined ? records.count() - (furthers === undefined ? 0 : 1) : 0;
  const isFurther = known === undefined && name !== FURTHER_TAGS && others >= distinctMax;
  const [tag, text] = isFurther ? [FURTHER_TAGS, furthers] : [name, known];
  const before = readTagCount(text);
  if (before !== undefined && before.day !== day) {
    const earlier = records.get('tag_days', tag);
    records.put('tag_days', tag, `${earlier === undefined ? '' : `${earlier} `}${before.day}:${before.characters}:${before.requests}`);
  }
  const [had, requests] = before?.day === day ? [before.characters, before.requests] : [0, 0];
  records.put('tag_counts', tag, `${day} ${had + characters} ${requests + 1}`);
}

/** Of a record of `tag_counts`. */
export function readTagCount(text: string | undefined): TagCount | undefined {
  if (text === undefined) return undefined;
  const [day, characters, requests] = text.split(' ').map(Number) as [number, number, number];
  return { day, characters, requests };
}

/** Of a record of `tag_days`, in the order in which they ended. */
export function readTagDays(text = ''): readonly TagCount[] {
  if (text === '') return [];
  return text.split(' ').map((one) => {
    const [day, characters, requests] = one.split(':').map(Number) as [number, number, number];
    return { day, characters, requests };
  });
}

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
