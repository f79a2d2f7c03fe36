// Turns what libraries, plugins and Node print while a gateway serves into lines of its log: readers expect JSON alone there.
import { performance } from 'node:perf_hooks';
import { format } from 'node:util';
import type { Log } from '../ports/log.ts';

const LEVELS = { debug: 'info', log: 'info', info: 'info', trace: 'warn', warn: 'warn', error: 'error' } as const;
const TEXT_UNITS_MAX = 500;
/** Of different texts: a library may put changing numbers into its own. */
const TEXTS_MAX = 100;
/** A library that prints at each connection says the same over and over. */
const AGAIN_MS = 3_600_000;

/** What a known text means here, and what to do about it; the others are logged as they are. */
const KNOWN: readonly { readonly text: RegExp; readonly message: string }[] = [
  {
    // By ioredis, for a server without a password and for a user who needs none.
    text: /does not require a password, but a password was supplied/,
    message:
      'the Redis store takes no password, but the URL has one: anyone who reaches the server can use it. Set requirepass or an ACL user there, or leave the password out of the URL',
  },
  {
    text: /wrong number of arguments for 'auth' command/,
    message: 'the Redis store knows no users: leave the user name out of the URL',
  },
];

/** For a process whose standard output is the log; call it once. */
export function logForeignOutput(log: Log): void {
  const printed = new Map<string, number>();
  const isNew = (text: string): boolean => {
    const nowMs = performance.now();
    const isRepeated = nowMs - (printed.get(text) ?? -Infinity) < AGAIN_MS;
    if (!isRepeated && printed.size < TEXTS_MAX) printed.set(text, nowMs);
    return !isRepeated && printed.has(text);
  };
  const tell = (level: 'info' | 'warn' | 'error', by: string, text: string): void => {
    const begin = text.slice(0, TEXT_UNITS_MAX).toWellFormed();
    if (!isNew(begin)) return;
    const known = KNOWN.find((one) => one.text.test(begin));
    if (known === undefined) log[level]('a library or a plugin printed this', { by, text: begin });
    else log.warn(known.message);
  };
  for (const [name, level] of Object.entries(LEVELS)) {
    console[name as keyof typeof LEVELS] = (...values: readonly unknown[]) => tell(level, `console.${name}`, format(...values));
  }
  // Node's own listener prints them.
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => tell('warn', name, message));
}
