// How every chain of this API begins.

/** Log, load shedding, whose key it is, the team's load shedding. */
export const AUTHENTICATED = ['access-log', 'shed', 'identify', 'authenticate', 'team-shed'] as const;
