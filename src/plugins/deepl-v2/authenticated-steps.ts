// How every chain of this API begins.

/** Logged, turned away under load, told by its key whose it is. */
export const AUTHENTICATED = ['access-log', 'shed', 'identify', 'authenticate', 'team-shed'] as const;
