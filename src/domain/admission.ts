// The results of admissions and checks of a caller, for what has to know all when it runs, and what
// the gateway and all stores share about reservations.

export const CHECK_KINDS = {
  key_unknown: true,
  key_revoked: true,
  address_required: true,
  address_refused: true,
  scope_required: true,
  scope_missing: true,
  tag_disabled: true,
  rate_limited: true,
  admitted: true,
  unavailable: true,
} as const;

/** The results that have taken a slot in the rate window. */
export const PLACED_KINDS = {
  admitted: true,
  text_too_long: true,
  glossary_missing: true,
  glossary_mismatch: true,
  quota_exceeded: true,
  credit_exhausted: true,
} as const;

export const ADMISSION_KINDS = { ...CHECK_KINDS, ...PLACED_KINDS } as const;

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
