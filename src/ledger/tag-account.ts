// A team's tags: their settings, what is used of them, and what is charged to each by day. Their records are texts, which Redis' functions
// read and write as well: `tag_limits` as `tag:NAME`, `tag_uses` as `windows:tag:NAME` and a list of slots, both JSON.
import { DAY_MS } from '../domain/period.ts';
import { FURTHER_TAGS } from '../domain/request-tag.ts';
import type { RequestTag, TagCount, TagSettings, TagUse } from '../domain/request-tag.ts';
import { NO_WINDOWS, tagSubject, windowLimits } from '../domain/window-limits.ts';
import type { StoredCounts, WindowLimit, WindowSubject } from '../domain/window-limits.ts';
import { WindowCounts } from './counter.ts';
import type { LimitedSubject } from './limit.ts';
import { slotsOf } from './rate.ts';
import type { Slots } from './rate.ts';

/** The tables of a team's tags (`RecordTable`). */
export type TagTable = 'tag_counts' | 'tag_days' | 'tag_limits' | 'tag_uses';

/** Throws for a text that is none. */
export function readTagSettings(text: string): TagSettings {
  const settings = JSON.parse(text) as TagSettings;
  windowLimits(settings.windows ?? NO_WINDOWS);
  return settings;
}

/** What is charged to a tag and held in a period of the team. */
interface TagCounter {
  /** The number of the period. */
  readonly period: number;
  used: number;
  /** Requests with a ticket of at most this were not counted in it. */
  readonly from: number;
}

/** A record of `tag_uses`. */
export interface StoredTagUses extends StoredCounts {
  readonly inPeriod: TagCounter;
  /** When the last requests took a slot. */
  readonly slots: readonly { readonly atMs: number; readonly count: number }[];
}

/** Throws for a text that is none. */
export function readTagUses(text: string): StoredTagUses {
  return JSON.parse(text) as StoredTagUses;
}

/** What is used of a tag's settings, as a ledger changes it within an operation. */
export class TagUses {
  readonly counts: WindowCounts;
  readonly slots: Slots;
  /** That of the period that runs. */
  readonly inPeriod: TagCounter;

  /** `text`: the record; without one nothing was counted since the tag got settings, and tickets begin with the time. */
  constructor(text: string | undefined, period: number, nowMs: number) {
    const stored = text === undefined ? undefined : readTagUses(text);
    this.counts = new WindowCounts(stored ?? { tickets: nowMs, windows: [] });
    this.slots = slotsOf(stored?.slots ?? []);
    const isRunning = stored?.inPeriod.period === period;
    this.inPeriod = isRunning ? { ...stored.inPeriod } : { period, used: 0, from: this.counts.nextTicket - 1 };
  }

  /** Those of a reservation with this ticket, made in that period, are not charged after all. */
  giveBack(ticket: number, period: number, characters: number): void {
    this.counts.giveBack(ticket, characters);
    if (period !== this.inPeriod.period || ticket <= this.inPeriod.from) return;
    this.inPeriod.used = Math.max(0, this.inPeriod.used - characters);
  }

  written(): string {
    const stored: StoredTagUses = { ...this.counts.stored(), inPeriod: this.inPeriod, slots: this.slots.entries() };
    return JSON.stringify(stored);
  }

  /** What is used of these settings. */
  use({ windows = NO_WINDOWS }: TagSettings, nowMs: number): TagUse {
    return { characters: this.inPeriod.used, windows: this.counts.uses(windowLimits(windows), nowMs) };
  }
}

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
    this.windows = windowLimits(this.settings.windows ?? NO_WINDOWS);
  }

  usedInPeriod(): number {
    return this.inPeriod.used;
  }
}

/**
 * Of a tag whose settings are new: `characters` were charged to it in this period of the team. `left`: what is left of earlier settings;
 * tickets are greater than all that its reservations may still have.
 */
export function firstTagUses(period: number, characters: number, nowMs: number, left: string | undefined): string {
  const tickets = left === undefined ? 0 : readTagUses(left).tickets;
  const uses = new TagUses(undefined, period, Math.max(nowMs, tickets));
  uses.inPeriod.used = characters;
  return uses.written();
}

/**
 * Whether what is left of settings that were removed can go: later settings begin with greater tickets than any of its reservations has,
 * unless a clock steps back by more than a day.
 */
export function isLeftBehind(text: string, nowMs: number): boolean {
  return readTagUses(text).tickets <= nowMs - DAY_MS;
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
    records.put('tag_days', tag, JSON.stringify([...readTagDays(records.get('tag_days', tag)), before]));
  }
  const today = before?.day === day ? before : { characters: 0, requests: 0 };
  const counted: TagCount = { day, characters: today.characters + characters, requests: today.requests + 1 };
  records.put('tag_counts', tag, JSON.stringify(counted));
}

/** Of a record of `tag_counts`. */
export function readTagCount(text: string | undefined): TagCount | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as TagCount);
}

/** Of a record of `tag_days`, in the order in which they ended. */
export function readTagDays(text = '[]'): readonly TagCount[] {
  return JSON.parse(text) as readonly TagCount[];
}
