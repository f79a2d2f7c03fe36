// The records of tags with settings, as JSON: `tag_limits` has the settings, `tag_uses` what the ledger counts for them.
import { DAY_MS } from '../domain/period.ts';
import type { TagSettings, TagUse } from '../domain/request-tag.ts';
import { NO_WINDOWS, windowLimits } from '../domain/window-limits.ts';
import type { StoredCounts } from '../domain/window-limits.ts';
import { WindowCounts } from './counter.ts';
import { slotsOf } from './rate.ts';
import type { Slots } from './rate.ts';

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
  /** When the last requests were admitted. */
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
