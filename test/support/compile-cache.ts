// Where Node caches compiled code (`NODE_COMPILE_CACHE`) for everything that tests start: keyed by content, so nothing in it is ever stale.
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const COMPILE_CACHE_VARIABLE = 'NODE_COMPILE_CACHE';

/** Inside `node_modules`, so a new installation deletes it. */
export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/lingate-tests', import.meta.url));

/** The only variables of the machine's environment that our own programs get. */
export function bareEnvironment(): Record<string, string> {
  const names = ['PATH', COMPILE_CACHE_VARIABLE];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
