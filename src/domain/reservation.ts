// Reservation constants shared by the gateway and all stores.

/** The span over which a team's request rate is counted, in milliseconds. */
export const RATE_WINDOW_MS = 1000;

/**
 * How long a settlement may wait, in milliseconds, to share a store call with an admission. No
 * caller waits, and the team's later operations stay behind.
 */
export const SETTLE_LINGER_MS = 2;

/** How long a change to a team is remembered by its id (`TeamChange.once`). */
export const CHANGE_REMEMBERED_MS = 86_400_000;

/**
 * How long a request with one effect is remembered (ports/idempotency-records.ts). Not longer than
 * changes of teams, on which a repetition relies.
 */
export const REQUEST_REMEMBERED_MS = CHANGE_REMEMBERED_MS;
