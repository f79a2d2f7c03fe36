// Every kind of limit that may refuse a request, in the order in which they are judged: the list that both ledgers, answers,
// header fields, log, console and manual read. Another kind is a row here, and its rule in each ledger.
import type { LimitOwner, RefusingLimit } from './key-limits.ts';
import { COUNTED, WINDOWS } from './window-limits.ts';
import type { Counted, WindowName, WindowNumber } from './window-limits.ts';

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

/** A text that is longer than a window's whole number is `quota_exceeded`, because no waiting helps. */
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

/** Each refusal by a quota needs one, and in the whole list they come last. */
const PERIOD_OF: ReadonlyMap<RefusingLimit, LimitKind> = new Map(
  ACCOUNTS.filter(({ counts }) => counts === 'characters').map((kind) => [kind.of, kind]),
);

/** Of a rate, or of a window. */
export function limitKind(of: RefusingLimit = 'team', window?: WindowNumber): LimitKind {
  return kindOf(of, window?.per ?? 'second', window?.counts ?? 'requests');
}

/** Of a window, or of what a period has. */
export function quotaKind(of: RefusingLimit = 'team', window?: WindowNumber): LimitKind {
  return window === undefined ? PERIOD_OF.get(of)! : kindOf(of, window.per, window.counts);
}

function kindOf(of: RefusingLimit, per: LimitKind['per'], counts: LimitKind['counts']): LimitKind {
  return LIMITS.find((kind) => kind.of === of && kind.per === per && kind.counts === counts)!;
}
