// Tags in the reference store: their settings and what is used of them, as the records have them, and what was charged by tag and day.
import type { RequestTag, TagSettings } from 'lingate';
import { Seconds } from './limits.ts';
import type { Counter } from './limits.ts';
import type { RecordGroup } from './records.ts';

/** A request's tag that has settings. */
export interface SetTag {
  readonly name: string;
  readonly settings: TagSettings;
  readonly uses: TagUses;
}

/** What is used of a tag's settings, since they were made. */
interface TagUses {
  readonly counter: Counter;
  readonly seconds: Seconds;
  /** Of the team's running period; requests with a ticket of at most `from` are not in it. */
  readonly number: number;
  readonly from: number;
  characters: number;
}

export function tagOf(records: RecordGroup, tag: RequestTag | undefined, periodNumber: number, nowMs: number): SetTag | undefined {
  const settings = tag && records.get('tag_limits', tag.name);
  if (tag === undefined || settings === undefined) return undefined;
  return {
    name: tag.name,
    settings: JSON.parse(settings) as TagSettings,
    uses: usesOf(records.get('tag_uses', tag.name), periodNumber, nowMs),
  };
}

/** The record of what is used. */
interface StoredUses extends Counter {
  readonly inPeriod: { readonly period: number; readonly used: number; readonly from: number };
  readonly slots: readonly { readonly atMs: number; readonly count: number }[];
}

export function usesOf(text: string | undefined, periodNumber: number, nowMs: number): TagUses {
  const stored = text === undefined ? undefined : (JSON.parse(text) as StoredUses);
  const { tickets, windows, slots } = stored ?? { tickets: nowMs, windows: [], slots: [] };
  const used = { counter: { tickets, windows }, seconds: Seconds.from([...slots]), number: periodNumber };
  if (stored?.inPeriod.period !== periodNumber) return { ...used, from: tickets, characters: 0 };
  return { ...used, from: stored.inPeriod.from, characters: stored.inPeriod.used };
}

export function writtenUses({ counter, seconds, number, from, characters }: TagUses): string {
  const inPeriod = { period: number, used: characters, from };
  return JSON.stringify({ ...counter, inPeriod, slots: seconds.slots() } satisfies StoredUses);
}

/** Counts a charge under `*` if as many other tags are counted as may be. A day that is over moves to the tag's list. */
export function countTag(records: RecordGroup, { name, distinctMax }: RequestTag, characters: number, day: number): void {
  const others = [...records.table('tag_counts').keys()].filter((one) => one !== '*');
  const tag = others.includes(name) || others.length < distinctMax ? name : '*';
  const counted = records.get('tag_counts', tag);
  const [last, had, requests] = (counted ?? `${day} 0 0`).split(' ').map(Number) as [number, number, number];
  if (last === day) return records.put('tag_counts', tag, `${day} ${had + characters} ${requests + 1}`);
  const earlier = records.get('tag_days', tag);
  records.put('tag_days', tag, `${earlier === undefined ? '' : `${earlier} `}${last}:${had}:${requests}`);
  records.put('tag_counts', tag, `${day} ${characters} 1`);
}
