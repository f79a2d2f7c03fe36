// The states of a document in their order, and how long characters are reserved for it.

export const DOCUMENT_STATES = ['queued', 'translating', 'done', 'error'] as const;

/**
 * Of what is held until the text is counted: a gateway that dies before the document's record
 * leaves it to its end. The worker exchanges it early for a reservation that needs no renewal.
 */
export const UNCOUNTED_LEASE_MS = 600_000;
