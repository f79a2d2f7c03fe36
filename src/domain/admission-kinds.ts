// The results of admissions and checks of a caller, for what has to know all when it runs.

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
