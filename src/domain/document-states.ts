// The states of a document, in the order in which it may have them, and how long characters are reserved for it.

export const DOCUMENT_STATES = ['queued', 'translating', 'done', 'error'] as const;

/**
 * The lease of what is held until the text is counted, in milliseconds. Short, because a gateway that dies between the admission and
 * the document's record leaves it to its end. A document that waits for half of it is counted before its turn
 * (runtime/document-worker.ts), which exchanges it for a reservation that lasts until the document expires.
 *
 * That one needs no renewal: whoever ends the document charges or releases it before the record goes.
 */
export const UNCOUNTED_LEASE_MS = 600_000;
