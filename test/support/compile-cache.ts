// Where Node keeps what V8 made of modules (`NODE_COMPILE_CACHE`), for all that tests start: by content, so nothing in it is ever stale.
import process from 'node:process';
import { fileURLToPath } from 'node:url';

export const COMPILE_CACHE_VARIABLE = 'NODE_COMPILE_CACHE';

/** Gone with what npm has installed. */
export const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/lingate-tests', import.meta.url));

/** All that a program of ours is given of the machine's environment. */
export function bareEnvironment(): Record<string, string> {
  const names = ['PATH', COMPILE_CACHE_VARIABLE];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
