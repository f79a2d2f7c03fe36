// How long characters are held for a document before its texts are counted.

/**
 * The lease of what is held until the text is counted, which is a matter of seconds. If it takes longer, the count's own reservation
 * decides alone.
 */
export const UNCOUNTED_MS = 600_000;
