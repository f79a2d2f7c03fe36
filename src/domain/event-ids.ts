// Ids of events: made of what they tell, so that one that is kept again, after a repetition or a failover, has the same.

/** No dots: they divide what is signed. */
export const eventIds = {
  /** A period is named by its start, as what was copied to another store still has it. */
  quota: (teamId: string, periodStartMs: number, percent: number) => `${teamId}-quota-${periodStartMs}-${percent}`,
  /** A threshold can be passed again when the balance has been above it. */
  credit: (teamId: string, thresholdMinor: number, atMs: number) => `${teamId}-credit-${thresholdMinor}-${atMs}`,
  period: (teamId: string, periodStartMs: number) => `${teamId}-period-${periodStartMs}`,
  /** A day to which more was added, because the clock had stepped back, is another event. */
  day: (teamId: string, day: number, requests: number) => `${teamId}-day-${day}-${requests}`,
  /** One is made, revoked or deleted once. */
  once: (id: string, what: 'created' | 'revoked' | 'deleted') => `${id}-${what}`,
  /** Two changes in a millisecond are told as one. */
  updated: (id: string, atMs: number) => `${id}-updated-${atMs}`,
} as const;
