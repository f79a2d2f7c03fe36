// The encoding of limits by minute to month and of what is used of them, as lua/plan.lua and lua/windows.lua read and write them.
import type { CountedWindow, StoredCounts } from '../../domain/window-limits.ts';
import { keySubject, NO_WINDOWS, windowLimits, WINDOWS, writtenWindows } from '../../domain/window-limits.ts';
import type { WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import type { SubjectCounts } from '../../ports/store-contents.ts';
import { ROWS } from './row-formats.ts';

const { WINDOW_LIMIT: LIMIT, WINDOWS_USED: HEAD, WINDOW_COUNT: COUNT, TICKETS } = ROWS;
const NONE = Buffer.alloc(0);

/** The end of a field, whose last byte is the number of entries; nothing without limits. */
export function packWindowLimits(written: string): Buffer {
  if (written === NO_WINDOWS) return NONE;
  const limits = windowLimits(written).map(({ per, requests = 0, characters = 0 }) =>
    LIMIT.pack({ window: numberOf(per), requests, characters }),
  );
  return Buffer.concat([...limits, Buffer.from([limits.length])]);
}

/** Also returns the part of the field before the limits. */
export function readWindowLimits(packed: Buffer): [written: string, before: Buffer] {
  const count = packed.at(-1)!;
  const first = packed.length - 1 - count * LIMIT.bytes;
  const limits = Array.from({ length: count }, (_, i) => {
    const { window, requests, characters } = LIMIT.read(packed.subarray(first + i * LIMIT.bytes));
    return { per: nameOf(window), ...(requests > 0 ? { requests } : {}), ...(characters > 0 ? { characters } : {}) };
  });
  return [writtenWindows(limits), packed.subarray(0, first)];
}

const [TEAM_FIELD, KEY_FIELD] = ['c', 'c:'];
/** How much the windows allow is computed by the next admission. */
const UNKNOWN = { sinceMs: 0, untilMs: 0, ticketsMost: 0, charactersMost: 0 };
const NO_LIMITS = Buffer.alloc(1);

/** What subjects have used, among the fields of a team's record. */
export function readWindowCounts(fields: ReadonlyMap<string, Buffer>): Map<WindowSubject, StoredCounts> {
  const counts = new Map<WindowSubject, StoredCounts>();
  for (const [name, packed] of fields) {
    if (name === TEAM_FIELD) counts.set('team', readCounts(packed));
    else if (name.startsWith(KEY_FIELD)) counts.set(keySubject(name.slice(KEY_FIELD.length)), readCounts(packed));
  }
  return counts;
}

/** The same as names and values. */
export function windowCountFields(counts: readonly SubjectCounts[]): (string | Buffer)[] {
  return counts.flatMap(({ subject, counts: { tickets, windows } }) => {
    const most = Math.max(0, ...windows.map((window) => window.characters));
    const packed = windows.map(({ per, told, characters, ...window }) =>
      COUNT.pack({ ...window, before: most - characters, window: numberOf(per), told: told ? 1 : 0 }),
    );
    const name = subject === 'team' ? TEAM_FIELD : KEY_FIELD + subject.slice('key:'.length);
    return [name, Buffer.concat([HEAD.pack({ ...UNKNOWN, tickets, characters: most }), NO_LIMITS, ...packed])];
  });
}

function readCounts(packed: Buffer): StoredCounts {
  const { tickets, characters } = HEAD.read(packed);
  const windows: CountedWindow[] = [];
  for (let at = HEAD.bytes + 1 + packed[HEAD.bytes]!; at < packed.length; at += COUNT.bytes) {
    const { window, told, before, ...counted } = COUNT.read(packed.subarray(at));
    const used = { requests: tickets - counted.from, characters: characters - before };
    windows.push({ per: nameOf(window), ...counted, ...used, told: told === 1 });
  }
  return { tickets, windows };
}

/** The tickets of an open reservation, before its key. */
export function packTickets(tickets: WindowTickets, keyId: string): Buffer {
  return TICKETS.pack({ team: tickets.team ?? 0, key: tickets[keySubject(keyId)] ?? 0 });
}

export function readTickets(packed: Buffer, keyId: string): WindowTickets {
  const { team, key } = TICKETS.read(packed);
  return { ...(team > 0 ? { team } : {}), ...(key > 0 ? { [keySubject(keyId)]: key } : {}) };
}

function numberOf(per: CountedWindow['per']): number {
  return WINDOWS.indexOf(per) + 1;
}

function nameOf(window: number): CountedWindow['per'] {
  const name = WINDOWS[window - 1];
  if (name === undefined) throw new RangeError(`there is no window ${window}`);
  return name;
}
