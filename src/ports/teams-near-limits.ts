// What the passes over all teams report to the metrics: how many teams are near a limit, and which are nearest.

export interface TeamsNearLimits {
  /** When the last whole pass over the teams ended, on the monotonic clock in ms; `undefined` before the first. */
  readonly passedAtMs: number | undefined;
  readonly counts: Readonly<Record<TeamCondition, number>>;
  /** At most so many as the configuration allows, the worst first; so are the others. */
  readonly quota: readonly QuotaNearlyUsed[];
  readonly credit: readonly CreditLow[];
  readonly keys: readonly KeyUnused[];
}

export type TeamCondition = 'all' | 'quota_nearly_used' | 'credit_low' | 'key_unused';

export interface QuotaNearlyUsed {
  readonly teamId: string;
  /** Of the period's characters, overage included: 0 to 1, a little more after a plan was lowered. */
  readonly usedRatio: number;
}

export interface CreditLow {
  readonly teamId: string;
  /** What the balance still buys. */
  readonly characters: number;
}

export interface KeyUnused {
  readonly teamId: string;
  /** The team's active key that has gone unused for longest. */
  readonly keyId: string;
  readonly unusedSeconds: number;
}
