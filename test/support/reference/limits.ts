// What the reference store counts against limits: the requests of a second one by one, and what was counted in longer windows.
import type { CheckedCaller, CountedWindow, Period, QuotaExceeded, StoredCounts, WholeAccount, WindowLimit, WindowName } from 'lingate';
import type { WindowStanding, WindowSubject, WindowUse } from 'lingate';
import { WINDOW_NAMES, windowAt } from './calendar.ts';

export type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };
type RateRefusal = Extract<CheckedCaller, { kind: 'rate_limited' }>;
/** Absent for the team's own. */
type Whose = 'key' | 'tag' | undefined;

/** At most so much may be counted for a subject in each window. */
interface Limit {
  readonly unit: 'requests' | 'characters';
  readonly per: WindowName;
  readonly most: number;
}

/** What a subject has counted: one window of a length at most, and how many requests at all. */
export interface Counter {
  tickets: number;
  windows: Mutable<CountedWindow>[];
}

/** A subject of a request whose windows are limited. */
export interface Limited {
  readonly of: Whose;
  readonly subject: WindowSubject;
  readonly limits: readonly Limit[];
  readonly counter: Counter;
}

const SECOND_MS = 1000;

/** `requests=600/minute characters=1000000/day`, the shortest window first, and in it requests before characters. */
export function readLimits(written = ''): Limit[] {
  if (written === '') return [];
  const limits = written.split(' ').map((text): Limit => {
    const [unit, most, per] = text.split(/[=/]/) as [Limit['unit'], string, WindowName];
    return { unit, per, most: Number(most) };
  });
  const rank = ({ per, unit }: Limit): number => 2 * WINDOW_NAMES.indexOf(per) + (unit === 'requests' ? 0 : 1);
  return limits.toSorted((one, other) => rank(one) - rank(other));
}

export function copyOf({ tickets, windows }: StoredCounts): Counter {
  return { tickets, windows: windows.map((window) => ({ ...window })) };
}

function runningIn({ windows }: Counter, per: WindowName, nowMs: number): CountedWindow | undefined {
  return windows.find((one) => one.per === per && nowMs < one.endMs);
}

/** A window whose beginning the clock has stepped back over by more than its length becomes the one of now, with what it counted. */
function boundsOf(counter: Counter, per: WindowName, nowMs: number): Period {
  const running = runningIn(counter, per, nowMs);
  const isFar = running !== undefined && running.startMs - nowMs > running.endMs - running.startMs;
  return running === undefined || isFar ? windowAt(per, nowMs) : running;
}

/** Counts a request in each window: those of limits begin with it, others that run go on. */
export function countRequest({ limits, counter }: Limited, nowMs: number): void {
  const before = counter.tickets;
  const nothing = { from: before, requests: 0, characters: 0 };
  const named = WINDOW_NAMES.filter((per) => runningIn(counter, per, nowMs) !== undefined || limits.some((limit) => limit.per === per));
  counter.windows = named.map((per) => {
    const counted = runningIn(counter, per, nowMs) ?? { per, ...nothing };
    const { startMs, endMs } = boundsOf(counter, per, nowMs);
    return { ...counted, startMs, endMs, requests: counted.requests + 1 };
  });
  counter.tickets = before + 1;
}

export function holdCharacters({ windows }: Counter, characters: number): void {
  for (const window of windows) window.characters += characters;
}

/** To those windows that began before the request was counted. */
export function giveBack({ windows }: Counter, ticket: number, characters: number): void {
  for (const window of windows) if (window.from < ticket) window.characters = Math.max(0, window.characters - characters);
}

function exceeds({ unit, most, per }: Limit, counter: Counter, reserved: number | undefined, nowMs: number): boolean {
  const running = runningIn(counter, per, nowMs);
  if (running === undefined) return false;
  if (unit === 'requests') return running.requests + 1 > most;
  // What is longer than the whole number is refused in another way: waiting does not help it.
  return reserved !== undefined && reserved <= most && running.characters + reserved > most;
}

/** The first subject with a full window refuses; of its full ones that which ends last, since only then is it worth asking again. */
export function windowRefusal(
  subjects: readonly Limited[],
  reserved: number | undefined,
  nowMs: number,
  changesAtMs = Infinity,
): RateRefusal | undefined {
  for (const { of, limits, counter } of subjects) {
    const full = limits
      .filter((limit) => exceeds(limit, counter, reserved, nowMs))
      .map((limit) => ({ limit, endMs: boundsOf(counter, limit.per, nowMs).endMs }));
    const lastMs = Math.max(...full.map(({ endMs }) => endMs));
    const found = full.find(({ endMs }) => endMs === lastMs);
    if (found === undefined) continue;
    const { unit: counts, per, most } = found.limit;
    const promisedMs = counts === 'characters' ? 0 : Math.max(0, Math.min(lastMs, changesAtMs) - nowMs - 1);
    return {
      kind: 'rate_limited',
      limit: most,
      retryAfterMs: lastMs - nowMs,
      fullForMs: promisedMs,
      ...owner(of),
      window: { per, counts },
    };
  }
  return undefined;
}

export function tooLong(subjects: readonly Limited[], reserved: number, nowMs: number): QuotaExceeded | undefined {
  for (const { of, limits, counter } of subjects) {
    const small = limits.find(({ unit, most }) => unit === 'characters' && reserved > most);
    if (small === undefined) continue;
    const periodEndMs = boundsOf(counter, small.per, nowMs).endMs;
    const window = { per: small.per, counts: small.unit };
    return { kind: 'quota_exceeded', characterLimit: small.most, overageCapMinor: 0, periodEndMs, ...owner(of), window };
  }
  return undefined;
}

export function standings(subjects: readonly Limited[], nowMs: number): WindowStanding[] {
  return subjects.flatMap(({ of, limits, counter }) =>
    limits.map(({ unit, per, most }): WindowStanding => {
      const remaining = Math.max(0, most - (runningIn(counter, per, nowMs)?.[unit] ?? 0));
      return { ...owner(of), per, counts: unit, limit: most, remaining, resetMs: boundsOf(counter, per, nowMs).endMs - nowMs };
    }),
  );
}

/** As it is shown: a row for each window. */
export function windowUses(written: string, counter: Counter, nowMs: number): WindowUse[] {
  const limits = readLimits(written);
  return WINDOW_NAMES.filter((per) => limits.some((limit) => limit.per === per)).map((per): WindowUse => {
    const running = runningIn(counter, per, nowMs);
    const { endMs } = boundsOf(counter, per, nowMs);
    const own = (unit: Limit['unit']): { readonly [Unit in Limit['unit']]?: number } => {
      const found = limits.find((limit) => limit.per === per && limit.unit === unit);
      return found === undefined ? {} : { [unit]: found.most };
    };
    const limit: WindowLimit = { per, ...own('requests'), ...own('characters') };
    return { ...limit, usedRequests: running?.requests ?? 0, usedCharacters: running?.characters ?? 0, endMs };
  });
}

function owner(of: Whose): { readonly of?: 'key' | 'tag' } {
  return of === undefined ? {} : { of };
}

/** When each of the requests came that may still count in their second; oldest first. */
export class Seconds {
  times: number[] = [];

  static from(slots: WholeAccount['window']): Seconds {
    const made = new Seconds();
    made.times = slots.flatMap(({ atMs, count }) => Array.from({ length: count }, () => atMs));
    return made;
  }

  slots(): WholeAccount['window'] {
    return [...new Set(this.times)].map((atMs) => ({ atMs, count: this.times.filter((one) => one === atMs).length }));
  }

  /** With a clock that has stepped back all of them step, so that the newest happens now. */
  stepBack(nowMs: number): void {
    const byMs = Math.max(0, ...this.times.map((atMs) => atMs - nowMs));
    this.times = this.times.map((atMs) => atMs - byMs);
  }

  /** Returns how many count now, with this one. */
  take(nowMs: number): number {
    this.times = [...this.times.filter((atMs) => nowMs < atMs + SECOND_MS), nowMs];
    return this.times.length;
  }

  refusal(of: Whose, limit: number, nowMs: number, changesAtMs = Infinity): RateRefusal | undefined {
    this.stepBack(nowMs);
    const counting = this.times.filter((atMs) => nowMs < atMs + SECOND_MS);
    if (counting.length < limit) return undefined;
    // As many have to end as leaves room for one: more than one, if the limit was lowered.
    const freeAtMs = counting[counting.length - limit]! + SECOND_MS;
    const promisedMs = Math.max(0, Math.min(freeAtMs, changesAtMs) - nowMs - 1);
    return { kind: 'rate_limited', limit, retryAfterMs: freeAtMs - nowMs, fullForMs: promisedMs, ...owner(of) };
  }
}
