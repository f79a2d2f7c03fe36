// How long characters are reserved for a document.

/**
 * The lease of what is held until the text is counted, in milliseconds. Short, because a gateway that dies between the admission and
 * the document's record leaves it to its end. A document that waits for half of it is counted before its turn
 * (runtime/document-worker.ts), which exchanges it for a reservation that lasts until the document expires.
 *
 * That one needs no renewal: its end is that of what it is for, whoever works on the document, and however long no gateway runs. It is
 * released earlier by whoever ends the document otherwise: an error, a deletion, the expiry; each before the record goes. Renewing a
 * shorter one would show only where nobody renews it: a translated document could then be downloaded and not be charged.
 */
export const UNCOUNTED_LEASE_MS = 600_000;
