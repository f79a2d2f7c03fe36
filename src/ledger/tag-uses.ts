// The records of tags with settings: `tag_limits` has the settings, `tag_uses` what the ledger counts for them. Their formats, and the
// rules by which requests are judged and counted, in one place; those of windows are in domain/window-counts.ts.
import { DAY_MS } from '../domain/period.ts';
import { RATE_WINDOW_MS } from '../domain/reservation.ts';
import type { TagSettings, TagUse } from '../domain/request-tag.ts';
import { WindowCounts } from './counter.ts';
import type { CountedWindow } from '../domain/window-limits.ts';
import { NO_WINDOWS, windowLimits, WINDOWS } from '../domain/window-limits.ts';

/** `DISABLED RATE CHARACTERS`, 0 for none, and the limits by minute to month as `writtenWindows` if there are any. */
export function writtenTagSettings({ disabled, requestsPerSecond = 0, characters = 0, windows = NO_WINDOWS }: TagSettings): string {
  return `${disabled ? 1 : 0} ${requestsPerSecond} ${characters} ${windows}`.trimEnd();
}

/** Throws a `RangeError` for a text that is none. */
export function readTagSettings(text: string): TagSettings {
  const [, disabled, rate = '', characters = '', windows] = /^([01]) (\d+) (\d+)(?: (.+))?$/.exec(text) ?? [];
  if (disabled === undefined) throw new RangeError('these are no settings of a tag');
  windowLimits(windows ?? NO_WINDOWS);
  return {
    disabled: disabled === '1',
    ...(rate === '0' ? {} : { requestsPerSecond: Number(rate) }),
    ...(characters === '0' ? {} : { characters: Number(characters) }),
    ...(windows === undefined ? {} : { windows }),
  };
}

/** What is charged and held in a period of the team. */
interface PeriodOfTag {
  readonly number: number;
  /** Requests with a ticket of at most this were not counted in it. */
  readonly from: number;
  characters: number;
  /** Whether an event told of a refusal by it. */
  told: boolean;
}

interface TagSlots {
  readonly atMs: number;
  readonly count: number;
}

/**
 * `TICKETS NUMBER FROM CHARACTERS TOLD NEWEST LOW TOTAL SLOTS`, and for each window `N:START:END:FROM:REQUESTS:CHARACTERS:TOLD`, where N
 * is its number from the shortest, 1. The slots of the rate are entries of eleven digits, oldest first, `-` for none: five for the time
 * of the slots, six for how many were taken then. `LOW` is the time of the newest, which is `NEWEST` by the clock, in the scale of these
 * digits, which wraps at `LOW_MAX`: so nothing but the head changes if the clock steps back.
 */
const RECORD = /^(\d+) (\d+) (\d+) (\d+) ([01]) (\d+) (\d+) (\d+) (-|(?:\d{11})+)((?: [1-5]:\d+:\d+:\d+:\d+:\d+:[01])*)$/;
const SLOT = /(\d{5})(\d{6})/g;
const LOW_MAX = 65_536;

/** What is used of a tag's settings, as a ledger changes it within an operation. */
export class TagUses {
  readonly counts: WindowCounts;
  /** That of `periodNumber`. */
  readonly period: PeriodOfTag;
  #slots: TagSlots[] = [];

  /**
   * `text`: the record; without one nothing was counted since the tag got settings, and tickets begin with the time.
   */
  constructor(text: string | undefined, periodNumber: number, nowMs: number) {
    const [, tickets, number, from, characters, told, newest, low, , slots = '-', windows = ''] = text === undefined ? [] : matched(text);
    this.counts = new WindowCounts({ tickets: Number(tickets ?? nowMs), windows: readWindows(windows) });
    this.period =
      Number(number) === periodNumber
        ? { number: periodNumber, from: Number(from), characters: Number(characters), told: told === '1' }
        : { number: periodNumber, from: this.counts.nextTicket - 1, characters: 0, told: false };
    this.#slots = [...slots.matchAll(SLOT)].map(([, at, count]) => ({
      atMs: Number(newest) - ((Number(low) - Number(at) + LOW_MAX) % LOW_MAX),
      count: Number(count),
    }));
  }

  /** How long until a slot of this rate is free; 0 if one is. TagSlots move back with the clock. */
  waitMs(rate: number, nowMs: number): number {
    const backMs = Math.max(0, (this.#slots.at(-1)?.atMs ?? 0) - nowMs);
    if (backMs > 0) this.#slots = this.#slots.map(({ atMs, count }) => ({ atMs: atMs - backMs, count }));
    let over = this.taken - rate;
    for (const { atMs, count } of this.#slots) {
      if (over < 0) break;
      over -= count;
      if (over < 0) return Math.max(0, atMs + RATE_WINDOW_MS - nowMs);
    }
    return 0;
  }

  get taken(): number {
    return this.#slots.reduce((sum, { count }) => sum + count, 0);
  }

  /** After `waitMs`. Drops slots that are free again. */
  take(nowMs: number): void {
    const live = this.#slots.filter(({ atMs }) => nowMs - atMs < RATE_WINDOW_MS);
    const last = live.at(-1);
    if (last?.atMs === nowMs) live.splice(-1, 1, { atMs: nowMs, count: last.count + 1 });
    else live.push({ atMs: nowMs, count: 1 });
    this.#slots = live;
  }

  /** Counts the characters that the request counted last reserves. */
  hold(characters: number): void {
    this.counts.hold(characters);
    this.period.characters += characters;
  }

  /** Those of a reservation with this ticket, made in that period, are not charged after all. */
  giveBack(ticket: number, periodNumber: number, characters: number): void {
    this.counts.giveBack(ticket, characters);
    if (periodNumber !== this.period.number || ticket <= this.period.from) return;
    this.period.characters = Math.max(0, this.period.characters - characters);
  }

  written(): string {
    const { tickets, windows } = this.counts.stored();
    const { number, from, characters, told } = this.period;
    const newestMs = this.#slots.at(-1)?.atMs ?? 0;
    const low = newestMs % LOW_MAX;
    const slots = this.#slots.map(({ atMs, count }) => {
      const at = (low - (newestMs - atMs) + 2 * LOW_MAX) % LOW_MAX;
      return String(at).padStart(5, '0') + String(count).padStart(6, '0');
    });
    const head = `${tickets} ${number} ${from} ${characters} ${told ? 1 : 0} ${newestMs} ${low} ${this.taken} ${slots.join('') || '-'}`;
    return [head, ...windows.map(writtenWindow)].join(' ');
  }

  /** What is used of these settings. */
  use({ windows = NO_WINDOWS }: TagSettings, nowMs: number): TagUse {
    return { characters: this.period.characters, windows: this.counts.uses(windowLimits(windows), nowMs) };
  }
}

/**
 * Of a tag whose settings are new: `characters` were charged to it in this period of the team. `left`: what is left of earlier settings;
 * tickets are greater than all that its reservations may still have.
 */
export function firstTagUses(periodNumber: number, characters: number, nowMs: number, left: string | undefined): string {
  const tickets = left === undefined ? 0 : ticketsOf(left);
  const uses = new TagUses(undefined, periodNumber, Math.max(nowMs, tickets));
  uses.period.characters = characters;
  return uses.written();
}

/** How many requests it has counted, from the time on at which the settings were first made. */
export function ticketsOf(text: string): number {
  return Number.parseInt(text, 10);
}

/**
 * Whether what is left of settings that were removed can go: later settings begin with greater tickets than any of its reservations has,
 * unless a clock steps back by more than a day.
 */
export function isLeftBehind(text: string, nowMs: number): boolean {
  return ticketsOf(text) <= nowMs - DAY_MS;
}

function matched(text: string): readonly string[] {
  const found = RECORD.exec(text);
  if (found === null) throw new RangeError('this is not what is used of a tag');
  return found;
}

function readWindows(text: string): CountedWindow[] {
  if (text === '') return [];
  return text
    .slice(1)
    .split(' ')
    .map((one) => {
      const [window, startMs, endMs, from, requests, characters, told] = one.split(':').map(Number) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      return { per: WINDOWS[window - 1]!, startMs, endMs, from, requests, characters, told: told === 1 };
    });
}

function writtenWindow({ per, startMs, endMs, from, requests, characters, told }: CountedWindow): string {
  return [WINDOWS.indexOf(per) + 1, startMs, endMs, from, requests, characters, told ? 1 : 0].join(':');
}
