// Records that belong to no team.

/** The group (ports/record-space.ts) whose records belong to no team. It always exists. */
export const SHARED_RECORDS = 'shared';
