// The limits by minute to month in the SQLite ledger: the subjects of a request, what they refuse, and how it is counted in them.
import type { LimitOwner } from '../../domain/key-limits.ts';
import type { ExceededWindow, WindowCounts } from '../../domain/window-counts.ts';
import { COUNTED, keySubject, NO_WINDOWS, windowLimits } from '../../domain/window-limits.ts';
import type { WindowLimit, WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import type { QuotaExceeded, RateLimited, WindowStanding } from '../../ports/ledger.ts';
import type { Accounts, KeyAccount, TeamAccount } from './accounts.ts';
import { fullForMs } from './key-guard.ts';

/** A team or a key whose windows are limited, with what it has used of them. Another kind of subject is another row of `of`. */
interface WindowedSubject {
  readonly of: LimitOwner;
  readonly subject: WindowSubject;
  readonly limits: readonly WindowLimit[];
  readonly counts: WindowCounts;
}

const NONE: readonly WindowedSubject[] = [];

export class WindowedSubjects {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Those of a request, in the order in which they are judged; usually none. */
  of(team: TeamAccount, key: KeyAccount): readonly WindowedSubject[] {
    const [ofTeam, ofKey = NO_WINDOWS] = [team.limits.windows, key.guard?.limits.windows];
    if (ofTeam === NO_WINDOWS && ofKey === NO_WINDOWS) return NONE;
    const subjects: WindowedSubject[] = [];
    const add = (of: LimitOwner, subject: WindowSubject, written: string): void => {
      if (written === NO_WINDOWS) return;
      subjects.push({ of, subject, limits: windowLimits(written), counts: this.#accounts.windowCounts(team, subject) });
    };
    add('team', 'team', ofTeam);
    add('key', keySubject(key.keyId), ofKey);
    return subjects;
  }

  /** Counts a request that takes its place, and the characters that it reserves. */
  count(subjects: readonly WindowedSubject[], team: TeamAccount, characters: number, nowMs: number): void {
    for (const { subject, limits, counts } of subjects) {
      counts.count(limits, nowMs);
      counts.hold(characters);
      this.#accounts.touchWindows(team, subject);
    }
  }

  /** Marks the window of a refusal as told of; false if it was already. */
  tell(team: TeamAccount, key: KeyAccount, { of, window }: Pick<RateLimited | QuotaExceeded, 'of' | 'window'>): number | undefined {
    const subject = of === 'key' ? keySubject(key.keyId) : 'team';
    const counts = this.#accounts.windowCounts(team, subject);
    if (window === undefined || !counts.tell(window.per)) return undefined;
    this.#accounts.touchWindows(team, subject);
    return counts.startOf(window.per);
  }
}

/** The tickets that the next request gets. */
export function nextTickets(subjects: readonly WindowedSubject[]): WindowTickets | undefined {
  if (subjects.length === 0) return undefined;
  return Object.fromEntries(subjects.map(({ subject, counts }) => [subject, counts.nextTicket]));
}

/** Judged after the rates. `characters`: those to reserve; `undefined` if none. */
export function windowRefusal(
  subjects: readonly WindowedSubject[],
  { guard }: KeyAccount,
  characters: number | undefined,
  nowMs: number,
): RateLimited | undefined {
  for (const { of, limits, counts } of subjects) {
    const exceeded = counts.exceeded(limits, characters, nowMs);
    if (exceeded === undefined) continue;
    const retryAfterMs = exceeded.endMs - nowMs;
    // A release may give characters back at any time.
    const full = exceeded.counts === 'requests' ? fullForMs(retryAfterMs, guard, nowMs) : 0;
    return { kind: 'rate_limited', limit: exceeded.limit, retryAfterMs, fullForMs: full, ...named(of, exceeded) };
  }
  return undefined;
}

/** Judged before the quota: whether the characters are more than a window's whole number. */
export function tooSmallWindow(subjects: readonly WindowedSubject[], characters: number, nowMs: number): QuotaExceeded | undefined {
  for (const { of, limits, counts } of subjects) {
    const exceeded = counts.tooSmall(limits, characters, nowMs);
    if (exceeded === undefined) continue;
    const { limit, endMs } = exceeded;
    return { kind: 'quota_exceeded', characterLimit: limit, overageCapMinor: 0, periodEndMs: endMs, ...named(of, exceeded) };
  }
  return undefined;
}

/** After a request was counted. */
export function windowStandings(subjects: readonly WindowedSubject[], nowMs: number): WindowStanding[] {
  return subjects.flatMap(({ of, limits, counts }) =>
    counts.uses(limits, nowMs).flatMap(({ per, usedRequests, usedCharacters, endMs, ...limit }) =>
      COUNTED.flatMap((what): WindowStanding | [] => {
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

function whose(of: LimitOwner): { readonly of?: 'key' } {
  return of === 'key' ? { of } : {};
}
