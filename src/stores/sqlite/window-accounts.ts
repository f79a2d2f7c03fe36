// The limits by minute to month in the SQLite ledger: the rules of domain/windowed-subjects.ts over the accounts in memory.
import { keySubject } from '../../domain/window-limits.ts';
import { countInWindows, windowedSubjects } from '../../domain/windowed-subjects.ts';
import type { WindowedSubject } from '../../domain/windowed-subjects.ts';
import type { QuotaExceeded, RateLimited } from '../../ports/ledger.ts';
import type { Accounts, KeyAccount, TeamAccount } from './accounts.ts';

export class WindowAccounts {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Those of a request, in the order in which they are judged; usually none. */
  of(team: TeamAccount, key: KeyAccount): readonly WindowedSubject[] {
    return windowedSubjects(team.limits.windows, key.keyId, key.guard?.limits.windows, (subject) =>
      this.#accounts.windowCounts(team, subject),
    );
  }

  /** Counts a request that takes its place, and the characters that it reserves. */
  count(subjects: readonly WindowedSubject[], team: TeamAccount, characters: number, nowMs: number): void {
    countInWindows(subjects, characters, nowMs);
    for (const { subject } of subjects) this.#accounts.touchWindows(team, subject);
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
