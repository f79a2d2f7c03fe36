// The session cookie: how it is written, and how it is found among what a browser sends.
import { SESSION_SECONDS } from './sessions.ts';
import { CONSOLE_PREFIX } from './prefix.ts';

const NAME = 'lingate_console';
const ATTRIBUTES = `Path=${CONSOLE_PREFIX}; HttpOnly; SameSite=Strict`;

/** `secure` where the browser came over TLS: it then never sends the cookie without. */
export function sessionCookie(secret: string, secure: boolean): string {
  return `${NAME}=${secret}; ${ATTRIBUTES}; Max-Age=${SESSION_SECONDS}${secure ? '; Secure' : ''}`;
}

export function clearedCookie(secure: boolean): string {
  return `${NAME}=; ${ATTRIBUTES}; Max-Age=0${secure ? '; Secure' : ''}`;
}

/** `undefined` without a cookie, and with two: one of them was set by another program of this host. */
export function cookieOf(header: string | undefined): string | undefined {
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`));
  return found.length === 1 ? found[0]!.slice(NAME.length + 1) : undefined;
}
