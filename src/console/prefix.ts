// Where the console lies on the ops listener.
export const CONSOLE_PREFIX = '/console';
