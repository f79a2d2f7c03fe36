// Tags in the reference store: their settings and what is used of them, as the records have them, and what was charged by tag and day.
import type { CountedWindow, RequestTag, TagSettings } from 'lingate';
import { WINDOW_NAMES } from './calendar.ts';
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
  readonly told: string;
}

/** The clock in the record of a tag's slots is of five digits, and begins again here. */
const SLOT_CLOCK = 65_536;

export function tagOf(records: RecordGroup, tag: RequestTag | undefined, periodNumber: number, nowMs: number): SetTag | undefined {
  const settings = tag && records.get('tag_limits', tag.name);
  if (tag === undefined || settings === undefined) return undefined;
  return { name: tag.name, settings: readSettings(settings), uses: usesOf(records.get('tag_uses', tag.name), periodNumber, nowMs) };
}

/** `DISABLED RATE CHARACTERS` and the limits of windows; 0 means none. */
function readSettings(text: string): TagSettings {
  const [disabled, rate, characters, ...windows] = text.split(' ');
  return {
    disabled: disabled === '1',
    ...(rate === '0' ? {} : { requestsPerSecond: Number(rate) }),
    ...(characters === '0' ? {} : { characters: Number(characters) }),
    ...(windows.length === 0 ? {} : { windows: windows.join(' ') }),
  };
}

export function usesOf(text: string | undefined, periodNumber: number, nowMs: number): TagUses {
  const [tickets, number, from, characters, told, newest, low, , slots = '-', ...windows] = (text ?? `${nowMs} 0 0 0 0 0 0 0 -`).split(' ');
  const counter: Counter = { tickets: Number(tickets), windows: windows.map(readWindow) };
  const seconds = Seconds.from(
    [...slots.matchAll(/(\d{5})(\d{6})/g)].map(([, at, count]) => ({
      atMs: Number(newest) - ((Number(low) - Number(at) + SLOT_CLOCK) % SLOT_CLOCK),
      count: Number(count),
    })),
  );
  const isRunning = Number(number) === periodNumber;
  if (!isRunning) return { counter, seconds, number: periodNumber, from: counter.tickets, characters: 0, told: '0' };
  return { counter, seconds, number: periodNumber, from: Number(from), characters: Number(characters), told: told! };
}

function readWindow(text: string): CountedWindow {
  const [n, startMs, endMs, from, requests, characters, told] = text.split(':').map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  return { per: WINDOW_NAMES[n - 1]!, startMs, endMs, from, requests, characters, told: told === 1 };
}

export function writtenUses({ counter, seconds, number, from, characters, told }: TagUses): string {
  const newest = seconds.times.at(-1) ?? 0;
  const slots = seconds.slots().map(({ atMs, count }) => {
    const at = (((newest % SLOT_CLOCK) - (newest - atMs)) % SLOT_CLOCK) + SLOT_CLOCK;
    return String(at % SLOT_CLOCK).padStart(5, '0') + String(count).padStart(6, '0');
  });
  const windows = counter.windows.map(({ per, startMs, endMs, from: since, requests, characters: counted, told: wasTold }) =>
    [WINDOW_NAMES.indexOf(per) + 1, startMs, endMs, since, requests, counted, wasTold ? 1 : 0].join(':'),
  );
  const head = [counter.tickets, number, from, characters, told, newest, newest % SLOT_CLOCK, seconds.times.length];
  return [...head, slots.join('') || '-', ...windows].join(' ');
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
