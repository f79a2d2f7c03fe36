// The subjects of a request whose windows are limited: in which order they are judged, what they refuse, and what is left.
import type { LimitOwner } from '../domain/key-limits.ts';
import type { ExceededWindow, WindowCounts } from './counter.ts';
import { COUNTED, keySubject, NO_WINDOWS, tagSubject, windowLimits } from '../domain/window-limits.ts';
import type { WindowLimit, WindowNumber, WindowSubject, WindowTickets } from '../domain/window-limits.ts';

/** A team or a key whose windows are limited, or a tag with settings, with what it has used of them. */
export interface WindowedSubject {
  readonly of: LimitOwner;
  readonly subject: WindowSubject;
  readonly limits: readonly WindowLimit[];
  readonly counts: WindowCounts;
}

/** `WindowStanding` of the ledger's port. */
interface StandingOfWindow extends WindowNumber {
  readonly of?: 'key' | 'tag';
  readonly limit: number;
  readonly remaining: number;
  readonly resetMs: number;
}

const NONE: readonly WindowedSubject[] = [];

/** A request's tag, if that has settings: it is counted also without limits by minute to month. */
interface WindowedTag {
  readonly name: string;
  readonly windows: string | undefined;
  readonly counts: WindowCounts;
}

/** Those of a request, in the order in which they are judged; usually none. Another kind of subject is another `add`. */
export function windowedSubjects(
  ofTeam: string,
  keyId: string,
  ofKey: string | undefined,
  countsOf: (subject: WindowSubject) => WindowCounts,
  tag?: WindowedTag,
): readonly WindowedSubject[] {
  if (ofTeam === NO_WINDOWS && ofKey === undefined && tag === undefined) return NONE;
  const subjects: WindowedSubject[] = [];
  const add = (of: LimitOwner, subject: WindowSubject, written: string): void => {
    if (written !== NO_WINDOWS) subjects.push({ of, subject, limits: windowLimits(written), counts: countsOf(subject) });
  };
  add('team', 'team', ofTeam);
  add('key', keySubject(keyId), ofKey ?? NO_WINDOWS);
  if (tag !== undefined)
    subjects.push({ of: 'tag', subject: tagSubject(tag.name), limits: windowLimits(tag.windows ?? NO_WINDOWS), counts: tag.counts });
  return subjects;
}

/** Counts a request that takes its place, and the characters that it reserves. */
export function countInWindows(subjects: readonly WindowedSubject[], characters: number, nowMs: number): void {
  for (const { limits, counts } of subjects) {
    counts.count(limits, nowMs);
    counts.hold(characters);
  }
}

/** The tickets that the next request gets. */
export function nextTickets(subjects: readonly WindowedSubject[]): WindowTickets | undefined {
  if (subjects.length === 0) return undefined;
  return Object.fromEntries(subjects.map(({ subject, counts }) => [subject, counts.nextTicket]));
}

/** Judged after the rates. `characters`: those to reserve; `undefined` if none. The refusal does not hold beyond the key's expiry. */
export function windowRefusal(subjects: readonly WindowedSubject[], characters: number | undefined, nowMs: number, expiresAtMs = Infinity) {
  for (const { of, limits, counts } of subjects) {
    const exceeded = counts.exceeded(limits, characters, nowMs);
    if (exceeded === undefined) continue;
    const retryAfterMs = exceeded.endMs - nowMs;
    // A release may give characters back at any time. The clock may be nearly a millisecond behind.
    const fullForMs = exceeded.counts === 'requests' ? Math.max(0, Math.min(exceeded.endMs, expiresAtMs) - nowMs - 1) : 0;
    return { kind: 'rate_limited' as const, limit: exceeded.limit, retryAfterMs, fullForMs, ...named(of, exceeded) };
  }
  return undefined;
}

/** Judged before the quota: whether the characters are more than a window's whole number. */
export function tooSmallWindow(subjects: readonly WindowedSubject[], characters: number, nowMs: number) {
  for (const { of, limits, counts } of subjects) {
    const exceeded = counts.tooSmall(limits, characters, nowMs);
    if (exceeded === undefined) continue;
    const { limit, endMs } = exceeded;
    return { kind: 'quota_exceeded' as const, characterLimit: limit, overageCapMinor: 0, periodEndMs: endMs, ...named(of, exceeded) };
  }
  return undefined;
}

/** After a request was counted. */
export function windowStandings(subjects: readonly WindowedSubject[], nowMs: number): StandingOfWindow[] {
  return subjects.flatMap(({ of, limits, counts }) =>
    counts.uses(limits, nowMs).flatMap(({ per, usedRequests, usedCharacters, endMs, ...limit }) =>
      COUNTED.flatMap((what): StandingOfWindow | [] => {
        const most = limit[what];
        if (most === undefined) return [];
        const remaining = Math.max(0, most - (what === 'requests' ? usedRequests : usedCharacters));
        return { ...whose(of), per, counts: what, limit: most, remaining, resetMs: endMs - nowMs };
      }),
    ),
  );
}

function named(of: LimitOwner, { per, counts }: ExceededWindow) {
  return { ...whose(of), window: { per, counts } };
}

function whose(of: LimitOwner): { readonly of?: 'key' | 'tag' } {
  return of === 'team' ? {} : { of };
}
