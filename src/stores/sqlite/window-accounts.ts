// The limits by minute to month in the SQLite ledger: the rules of ledger/windowed-subjects.ts over the accounts in memory.
import { keySubject } from '../../domain/window-limits.ts';
import type { WindowSubject } from '../../domain/window-limits.ts';
import { countInWindows, windowedSubjects } from '../../ledger/windowed-subjects.ts';
import type { WindowedSubject } from '../../ledger/windowed-subjects.ts';
import type { QuotaExceeded, RateLimited } from '../../ports/ledger.ts';
import type { TagInStore } from '../records/windowed-tag.ts';
import type { Accounts, KeyInFile, TeamAccount } from './accounts.ts';

export class WindowAccounts {
  readonly #accounts: Accounts;

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** Those of a request, in the order in which they are judged; usually none. */
  of(team: TeamAccount, key: KeyInFile, tag: TagInStore | undefined): readonly WindowedSubject[] {
    const countsOf = (subject: WindowSubject) => this.#accounts.windowCounts(team, subject);
    return windowedSubjects(team.limits.windows, key.keyId, key.guard?.limits.windows, countsOf, tag);
  }

  /** Counts a request that takes its place, and the characters that it reserves. What is counted for a tag is kept with it. */
  count(subjects: readonly WindowedSubject[], team: TeamAccount, characters: number, nowMs: number): void {
    countInWindows(subjects, characters, nowMs);
    for (const { of, subject } of subjects) if (of !== 'tag') this.#accounts.touchWindows(team, subject);
  }

  /** Marks the window of a refusal as told of, and returns its start; `undefined` if it was already. */
  tell(
    { team, keyId }: KeyInFile,
    tag: TagInStore | undefined,
    { of, window }: Pick<RateLimited | QuotaExceeded, 'of' | 'window'>,
  ): number | undefined {
    if (of === 'tag') {
      if (tag === undefined || window === undefined || !tag.counts.tell(window.per)) return undefined;
      this.#accounts.tags.keep(team, tag);
      return tag.counts.startOf(window.per);
    }
    const subject = of === 'key' ? keySubject(keyId) : 'team';
    const counts = this.#accounts.windowCounts(team, subject);
    if (window === undefined || !counts.tell(window.per)) return undefined;
    this.#accounts.touchWindows(team, subject);
    return counts.startOf(window.per);
  }
}
