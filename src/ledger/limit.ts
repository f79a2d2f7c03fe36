// Limits, whoever has them. A limit is how many requests or characters a subject (the team, a key, a tag) may have in a second,
// in a window from minute to month, or in the team's period. Each rule here goes through the subjects of a request in that order.
import type { WindowLimit, WindowNumber, WindowSubject, WindowTickets } from '../domain/window-limits.ts';
import { COUNTED } from '../domain/window-limits.ts';
import type { QuotaExceeded, RateLimited, RateStanding, WindowStanding } from '../ports/ledger.ts';
import type { WindowCounts } from './counter.ts';

/** Requests of the last second. */
interface TakenSlots {
  /** How long until one more fits; 0 if it does now. */
  waitMs(rate: number, nowMs: number): number;
  take(nowMs: number): void;
  readonly taken: number;
}

/** Whoever has limits, and what they have used of them. */
export interface LimitedSubject {
  /** Absent for the team. */
  readonly of: 'key' | 'tag' | undefined;
  readonly name: WindowSubject;
  /** Requests in any second; `undefined` for no limit. */
  readonly rate: number | undefined;
  readonly slots: TakenSlots;
  /** By minute to month; a subject with `counts` is counted, even if it has no such limits at present. */
  readonly windows: readonly WindowLimit[];
  readonly counts: WindowCounts | undefined;
  /** Characters in the team's period; `undefined` for no limit. The team's own are judged by its plan (account.ts). */
  readonly characters: number | undefined;
  /** What is charged and held in the period. */
  usedInPeriod(): number;
}

/** A request exceeds a rate if so many took a slot in the last second. No refusal holds beyond `changesAtMs`. */
export function rateRefusal(subjects: readonly LimitedSubject[], nowMs: number, changesAtMs: number): RateLimited | undefined {
  for (const { of, rate, slots } of subjects) {
    if (rate === undefined) continue;
    const retryAfterMs = slots.waitMs(rate, nowMs);
    if (retryAfterMs === 0) continue;
    // A clock of whole milliseconds may be nearly one behind.
    const fullForMs = Math.max(0, Math.min(retryAfterMs, changesAtMs - nowMs) - 1);
    return { kind: 'rate_limited', limit: rate, retryAfterMs, fullForMs, ...whose(of) };
  }
  return undefined;
}

/** A request exceeds a window if it, or the characters that it would reserve, do not fit what is left until the window ends. */
export function windowRefusal(
  subjects: readonly LimitedSubject[],
  characters: number | undefined,
  nowMs: number,
  changesAtMs: number,
): RateLimited | undefined {
  for (const { of, windows, counts } of subjects) {
    const exceeded = counts?.exceeded(windows, characters, nowMs);
    if (exceeded === undefined) continue;
    const { limit, endMs } = exceeded;
    // A release may give characters back at any time.
    const fullForMs = exceeded.counts === 'requests' ? Math.max(0, Math.min(endMs, changesAtMs) - nowMs - 1) : 0;
    const window = numberOf(exceeded);
    return { kind: 'rate_limited', limit, retryAfterMs: endMs - nowMs, fullForMs, ...whose(of), window };
  }
  return undefined;
}

/** Characters that are more than a window's whole number: no waiting helps. */
export function tooSmallWindow(subjects: readonly LimitedSubject[], characters: number, nowMs: number): QuotaExceeded | undefined {
  for (const { of, windows, counts } of subjects) {
    const exceeded = counts?.tooSmall(windows, characters, nowMs);
    if (exceeded === undefined) continue;
    const { limit: characterLimit, endMs: periodEndMs } = exceeded;
    const window = numberOf(exceeded);
    return { kind: 'quota_exceeded', characterLimit, overageCapMinor: 0, periodEndMs, ...whose(of), window };
  }
  return undefined;
}

/** Characters that a key or a tag may not have in the team's period. */
export function periodRefusal(subjects: readonly LimitedSubject[], characters: number, periodEndMs: number): QuotaExceeded | undefined {
  for (const subject of subjects) {
    const most = subject.characters;
    if (most === undefined || subject.usedInPeriod() + characters <= most) continue;
    return { kind: 'quota_exceeded', characterLimit: most, overageCapMinor: 0, periodEndMs, ...whose(subject.of) };
  }
  return undefined;
}

/** Takes a slot of each rate, and counts the request and what it reserves in windows. Returns the tickets by which that comes back. */
export function takePlace(subjects: readonly LimitedSubject[], characters: number, nowMs: number): WindowTickets | undefined {
  let tickets: Partial<Record<WindowSubject, number>> | undefined;
  for (const { name, rate, slots, windows, counts } of subjects) {
    if (rate !== undefined) slots.take(nowMs);
    if (counts === undefined) continue;
    tickets ??= {};
    tickets[name] = counts.count(windows, nowMs);
    counts.hold(characters);
    counts.changed = true;
  }
  return tickets;
}

/** The rate with the fewest free slots, after a request has taken its own. */
export function nearestRate(subjects: readonly LimitedSubject[]): RateStanding | undefined {
  let nearest: RateStanding | undefined;
  for (const { of, rate, slots } of subjects) {
    if (rate === undefined) continue;
    const remaining = rate - slots.taken;
    if (nearest === undefined || remaining < nearest.remaining) nearest = { limit: rate, remaining, ...whose(of) };
  }
  return nearest;
}

/** What is left of each window after a request was counted; `undefined` without any. */
export function windowStandings(subjects: readonly LimitedSubject[], nowMs: number): readonly WindowStanding[] | undefined {
  const standings = subjects.flatMap(({ of, windows, counts }) =>
    (counts?.uses(windows, nowMs) ?? []).flatMap(({ per, usedRequests, usedCharacters, endMs, ...limit }) =>
      COUNTED.flatMap((what): WindowStanding | [] => {
        const most = limit[what];
        if (most === undefined) return [];
        const remaining = Math.max(0, most - (what === 'requests' ? usedRequests : usedCharacters));
        return { ...whose(of), per, counts: what, limit: most, remaining, resetMs: endMs - nowMs };
      }),
    ),
  );
  return standings.length === 0 ? undefined : standings;
}

function whose(of: LimitedSubject['of']): { readonly of?: 'key' | 'tag' } {
  return of === undefined ? {} : { of };
}

function numberOf({ per, counts }: WindowNumber): WindowNumber {
  return { per, counts };
}
