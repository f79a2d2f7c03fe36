// What the scans over all teams report to the metrics: how many teams are near a limit, and which are closest.

export interface TeamsNearLimits {
  /** When the last complete scan ended, in ms on the monotonic clock; `undefined` before the first. */
  readonly passedAtMs: number | undefined;
  readonly counts: Readonly<Record<TeamCondition, number>>;
  /** Worst first, at most as many as configured; likewise for the other lists. */
  readonly quota: readonly QuotaNearlyUsed[];
  readonly credit: readonly CreditLow[];
  readonly keys: readonly KeyUnused[];
}

type TeamCondition = 'all' | 'quota_nearly_used' | 'credit_low' | 'key_unused';

export interface QuotaNearlyUsed {
  readonly teamId: string;
  /** Share of the period's characters, including overage: 0 to 1, slightly above after a plan was lowered. */
  readonly usedRatio: number;
}

export interface CreditLow {
  readonly teamId: string;
  /** How many characters the balance still covers. */
  readonly characters: number;
}

export interface KeyUnused {
  readonly teamId: string;
  /** The team's active key that has been unused for longest. */
  readonly keyId: string;
  readonly unusedSeconds: number;
}
