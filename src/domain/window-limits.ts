// Limits by minute, hour, day, week and month: the text in which a team or a key has them, and how
// operators write them. And every kind of limit that may refuse a request, in the order in which
// they are judged: the list that the ledgers, answers, header fields, log, console and manual
// read. Another kind is a row here, and its rule in src/ledger and in stores/redis/lua.
import { CHARACTERS_MAX } from './key-limits.ts';
import type { LimitOwner, RefusingLimit } from './key-limits.ts';
import type { TSchemaOptions } from 'typebox';
import { closed, whole } from './option-schema.ts';
import type { Period } from './period.ts';
import { Type } from './typebox.ts';

/** A window of the UTC calendar: the longest that it lasts, and the one that contains a moment. */
interface CalendarWindow {
  readonly seconds: number;
  at(nowMs: number): Period;
}

/** 1970-01-01 was a Thursday. */
const SINCE_MONDAY = 3 * 86_400;

const CALENDAR = { minute: every(60), hour: every(3600), day: every(86_400), week: every(604_800, SINCE_MONDAY), month: month() };

export type WindowName = keyof typeof CALENDAR;

/** From the shortest to the longest; stores number them in this order. */
export const WINDOWS = Object.keys(CALENDAR) as readonly WindowName[];

/** `since`: how many seconds before 1970 one began. */
function every(seconds: number, since = 0): CalendarWindow {
  const [lengthMs, sinceMs] = [seconds * 1000, since * 1000];
  return {
    seconds,
    at(nowMs) {
      const startMs = Math.floor((nowMs + sinceMs) / lengthMs) * lengthMs - sinceMs;
      return { startMs, endMs: startMs + lengthMs };
    },
  };
}

function month(): CalendarWindow {
  return {
    seconds: 31 * 86_400,
    at(nowMs) {
      const now = new Date(nowMs);
      const [year, number] = [now.getUTCFullYear(), now.getUTCMonth()];
      return { startMs: Date.UTC(year, number), endMs: Date.UTC(year, number + 1) };
    },
  };
}

/** The window that contains a moment, in UTC. */
export function windowAt(per: WindowName, nowMs: number): Period {
  return CALENDAR[per].at(nowMs);
}

/** How long a window is; of months the longest. */
export function windowSeconds(per: WindowName): number {
  return CALENDAR[per].seconds;
}

/** What is counted, in the order in which it is judged. */
export const COUNTED = ['requests', 'characters'] as const;

export type Counted = (typeof COUNTED)[number];

/** At least one of the numbers, each at least 1. */
export interface WindowLimit {
  readonly per: WindowName;
  readonly requests?: number;
  readonly characters?: number;
}

/** A number of a window: what `limit_of` names besides whose it is. */
export interface WindowNumber {
  readonly per: WindowName;
  readonly counts: Counted;
}

/** Whose requests a window counts: by it stores find counts, and reservations tickets. */
export type WindowSubject = 'team' | `key:${string}` | `tag:${string}`;

/** The tickets of a reservation in the counts of its subjects (`WindowCounts.count`). */
export type WindowTickets = Readonly<Partial<Record<WindowSubject, number>>>;

/** One window of a subject, as it was when something was last counted in it. */
export interface CountedWindow {
  readonly per: WindowName;
  startMs: number;
  endMs: number;
  /** Requests with a ticket of at most this were not counted in it. */
  from: number;
  requests: number;
  /** Charged ones, and those that open reservations hold. */
  characters: number;
}

/** As stores keep it: at most one window for each `per`, the shortest first. */
export interface StoredCounts {
  /** The last ticket: how many requests were counted. */
  readonly tickets: number;
  readonly windows: readonly CountedWindow[];
}

/** A limit and what is used of it. */
export interface WindowUse extends WindowLimit {
  readonly usedRequests: number;
  readonly usedCharacters: number;
  readonly endMs: number;
}

export function keySubject(keyId: string): WindowSubject {
  return `key:${keyId}`;
}

export function tagSubject(tag: string): WindowSubject {
  return `tag:${tag}`;
}

/** `undefined` for another subject. */
export function tagOfSubject(subject: WindowSubject): string | undefined {
  return subject.startsWith('tag:') ? subject.slice('tag:'.length) : undefined;
}

/** In place of a list of limits: none. */
export const NO_WINDOWS = '';

const ENTRY = new RegExp(`^(${COUNTED.join('|')})=(\\d+)/(${WINDOWS.join('|')})$`);

/**
 * As stores keep a list, so that equal ones are equal: `requests=600/minute
 * characters=1000000/day`, the shortest window first, each once.
 */
export function writtenWindows(limits: readonly WindowLimit[]): string {
  return WINDOWS.flatMap((per) =>
    COUNTED.flatMap((counts) => {
      const most = limits.find((one) => one.per === per && one[counts] !== undefined)?.[counts];
      return most === undefined ? [] : [`${counts}=${most}/${per}`];
    }),
  ).join(' ');
}

const NONE: readonly WindowLimit[] = [];
/** Many teams have the same limits. */
const READ_MAX = 1000;
const read = new Map<string, readonly WindowLimit[]>();

/** An entry for each window, shortest first. A `RangeError` unless `writtenWindows` wrote it. */
export function windowLimits(written: string): readonly WindowLimit[] {
  if (written === NO_WINDOWS) return NONE;
  const known = read.get(written);
  if (known !== undefined) return known;
  const limits = readWindows(written);
  if (read.size >= READ_MAX) read.clear();
  read.set(written, limits);
  return limits;
}

function readWindows(written: string): readonly WindowLimit[] {
  const limits: { per: WindowName; requests?: number; characters?: number }[] = [];
  for (const text of written.split(' ')) {
    const [, counts, most, name] = ENTRY.exec(text) ?? [];
    if (name === undefined) throw new RangeError(`"${text}" is not a limit such as requests=600/minute`);
    const per = name as WindowName;
    const entry = limits.find((one) => one.per === per);
    if (entry === undefined) limits.push({ per, [counts as Counted]: Number(most) });
    else entry[counts as Counted] = Number(most);
  }
  return limits;
}

/** Each number of each window once. */
const WINDOW_ENTRIES_MAX = WINDOWS.length * COUNTED.length;

/** What a list limits a second time: `requests of a day`. */
function limitedTwice(entries: readonly WindowLimit[]): string | undefined {
  const all = entries.flatMap((one) => COUNTED.flatMap((name) => (one[name] === undefined ? [] : [`${name} of a ${one.per}`])));
  return all.find((one, index) => all.indexOf(one) !== index);
}

const number = Type.Optional(whole(1, CHARACTERS_MAX));
const WindowEntry = Type.Refine(
  Type.Object(
    {
      per: Type.Enum([...WINDOWS], { type: 'string', description: 'In UTC; a week begins on Monday.' }),
      requests: number,
      characters: number,
    },
    { ...closed, description: 'With one or both numbers.' },
  ),
  (entry) => COUNTED.some((name) => entry[name] !== undefined),
  () => 'has neither requests nor characters',
);

/** The schema of a list of them, for files and for operators. */
export function windowListSchema(options: TSchemaOptions = {}) {
  const entries = Type.Unsafe<readonly WindowLimit[]>(Type.Array(WindowEntry, { minItems: 1, maxItems: WINDOW_ENTRIES_MAX, ...options }));
  return Type.Refine(
    entries,
    (all) => limitedTwice(all) === undefined,
    (all) => `limits the ${limitedTwice(all)} a second time`,
  );
}

/** From `requests=600/minute`, as written on the command line and in forms. */
export function readWindowLimit(text: string): WindowLimit | { readonly fault: string } {
  const [, counts, digits, per] = ENTRY.exec(text) ?? [];
  const most = Number(digits);
  if (per !== undefined && most >= 1 && most <= CHARACTERS_MAX) return { per: per as WindowName, [counts as Counted]: most };
  const range = `${WINDOWS.join(', ')}; 1 to ${CHARACTERS_MAX}`;
  return { fault: `is not a limit such as requests=600/minute or characters=1000000/day (${range})` };
}

/** What `set` names is replaced, what stands for the times in `removed` goes, others stay. */
interface WindowChange {
  readonly set: readonly WindowLimit[];
  readonly removed: readonly WindowName[];
}

/** `null` if nothing is left. */
export function changedWindows(written: string, { set, removed }: WindowChange): string | null {
  const standing = windowLimits(written).filter(({ per }) => !removed.includes(per));
  const result = writtenWindows([...set, ...standing]);
  return result === '' ? null : result;
}

/** For people: `600 requests/minute`, in the order of the list. */
export function windowTexts(written: string, shown: (number: number) => string = String): string[] {
  return windowLimits(written).flatMap((one) =>
    COUNTED.flatMap((counts) => (one[counts] === undefined ? [] : [`${shown(one[counts])} ${counts}/${one.per}`])),
  );
}

export interface LimitKind {
  /** What `limit_of` says. Limits of a second or a period are named by whose they are alone. */
  readonly name: string;
  readonly of: RefusingLimit;
  /** Over what time it counts; credit is for no certain time. */
  readonly per: 'second' | WindowName | 'period' | undefined;
  readonly counts: Counted | 'credit';
  readonly code: 'rate_limited' | 'quota_exceeded' | 'credit_exhausted';
  /** Its name in the `RateLimit` fields of answers; `undefined` if it is not in them. */
  readonly policy: string | undefined;
}

/** In the order in which their limits are judged. */
const OWNERS: readonly LimitOwner[] = ['team', 'key', 'tag'];

const RATES: readonly LimitKind[] = [
  { name: 'team', of: 'team', per: 'second', counts: 'requests', code: 'rate_limited', policy: 'requests' },
  { name: 'key', of: 'key', per: 'second', counts: 'requests', code: 'rate_limited', policy: 'key-requests' },
  { name: 'tag', of: 'tag', per: 'second', counts: 'requests', code: 'rate_limited', policy: 'tag-requests' },
];

/** A text longer than a window's whole number is `quota_exceeded`: waiting does not help. */
const OF_WINDOWS: readonly LimitKind[] = OWNERS.flatMap((of) =>
  WINDOWS.flatMap((per) =>
    COUNTED.map((counts): LimitKind => ({
      name: `${of}:${per}:${counts}`,
      of,
      per,
      counts,
      code: 'rate_limited',
      policy: `${of}-${per}-${counts}`,
    })),
  ),
);

const ACCOUNTS: readonly LimitKind[] = [
  { name: 'key', of: 'key', per: 'period', counts: 'characters', code: 'quota_exceeded', policy: undefined },
  { name: 'tag', of: 'tag', per: 'period', counts: 'characters', code: 'quota_exceeded', policy: undefined },
  { name: 'test_keys', of: 'test_keys', per: 'period', counts: 'characters', code: 'quota_exceeded', policy: undefined },
  { name: 'team', of: 'team', per: 'period', counts: 'characters', code: 'quota_exceeded', policy: undefined },
  { name: 'team', of: 'team', per: undefined, counts: 'credit', code: 'credit_exhausted', policy: undefined },
];

/** Stores may keep a kind by its index for as long as an answer takes, not longer. */
export const LIMITS: readonly LimitKind[] = [...RATES, ...OF_WINDOWS, ...ACCOUNTS];

/** Of a rate, or of a window. */
export function limitKind(of: RefusingLimit = 'team', window?: WindowNumber): LimitKind {
  return kindOf(of, window?.per ?? 'second', window?.counts ?? 'requests');
}

/** Of a window, or of what a period has. */
export function quotaKind(of: RefusingLimit = 'team', window?: WindowNumber): LimitKind {
  return kindOf(of, window?.per ?? 'period', window?.counts ?? 'characters');
}

function kindOf(of: RefusingLimit, per: LimitKind['per'], counts: LimitKind['counts']): LimitKind {
  return LIMITS.find((kind) => kind.of === of && kind.per === per && kind.counts === counts)!;
}
