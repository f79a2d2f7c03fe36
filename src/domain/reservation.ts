// Constants of reservations that every store and the gateway agree on.

/** Over how long a team's request rate is counted, in milliseconds. */
export const RATE_WINDOW_MS = 1000;

/**
 * How long a store remembers, in milliseconds, that an id was admitted without a reservation, resolved, or has expired.
 * Longer than any operation's deadline, so that a late duplicate of it finds either its trace or its deadline.
 */
export const REMEMBER_MS = 10_000;

/**
 * How long a resolution may wait, in milliseconds, for an admission with which it can share a store call. No caller waits
 * for it, and later operations of the same team stay behind it.
 */
export const SETTLE_LINGER_MS = 2;

/** For how long a change of a team is remembered by its id (`TeamChange.once`). */
export const CHANGE_REMEMBERED_MS = 86_400_000;
