// Records that belong to no team.

/** The group of a record space (ports/record-space.ts) whose records belong to no team. It always exists. */
export const SHARED_RECORDS = 'shared';
