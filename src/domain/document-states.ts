// The states of a document, in the order in which it may have them, and how long characters are reserved for it.

export const DOCUMENT_STATES = ['queued', 'translating', 'done', 'error'] as const;

/**
 * The lease of what is held until the text is counted, in milliseconds. Short, because a gateway that dies between the admission and
 * the document's record leaves it to its end. What is counted then is reserved until the document expires, and needs no renewal:
 * whoever ends the document charges or releases it before the record goes.
 */
export const UNCOUNTED_LEASE_MS = 600_000;
