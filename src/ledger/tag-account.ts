// A tag in its team's account: its settings, what is used of them, and what is charged to it by day. Their records are texts, which
// Redis' functions read and write as well.
import type { TagSettings, RequestTag, TagCount } from '../domain/request-tag.ts';
import { FURTHER_TAGS } from '../domain/request-tag.ts';
import { tagSubject, windowLimits } from '../domain/window-limits.ts';
import type { WindowLimit, WindowSubject } from '../domain/window-limits.ts';
import type { LimitedSubject } from './limit.ts';
import { readTagSettings, TagUses } from './tag-uses.ts';

/** The tables of a team's tags (`RecordTable`). */
export type TagTable = 'tag_counts' | 'tag_days' | 'tag_limits' | 'tag_uses';

/** One that has settings. It is always counted: by its tickets, characters come back to the period as well. */
export class TagAccount extends TagUses implements LimitedSubject {
  readonly of = 'tag';
  readonly name: WindowSubject;
  readonly tag: string;
  readonly settings: TagSettings;
  readonly rate: number | undefined;
  readonly characters: number | undefined;
  readonly windows: readonly WindowLimit[];

  /** `settings` and `uses` are its records. */
  constructor(tag: string, settings: string, uses: string | undefined, period: number, nowMs: number) {
    super(uses, period, nowMs);
    this.tag = tag;
    this.name = tagSubject(tag);
    this.settings = readTagSettings(settings);
    this.rate = this.settings.requestsPerSecond;
    this.characters = this.settings.characters;
    this.windows = windowLimits(this.settings.windows ?? '');
  }

  usedInPeriod(): number {
    return this.inPeriod.used;
  }
}

/** A team's records of tags, which an account reads and writes. */
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
