// The states of a document, in the order in which it may have them.
export const DOCUMENT_STATES = ['queued', 'translating', 'done', 'error'] as const;
