// The cookies in which a browser keeps its attempts to sign in at a provider, each by the beginning of its state: tabs do not disturb
// each other.
import type { SignInAttempt } from '../domain/sign-in-attempt.ts';
import { ATTEMPT_MS } from '../domain/sign-in-attempt.ts';
import { CONSOLE_PREFIX } from './console-route.ts';

/** Browsers accept names with this prefix only from this host itself, over TLS: no neighbour's page can plant one. */
const OF_THIS_HOST = '__Host-';
const NAME = 'lingate_sign_in_';
const STATE_CHARACTERS = 8;
/** A page that begins one attempt after the other must not fill the head of a request. */
const ATTEMPTS_MAX = 4;

/** `secure`: browsers reach the console over TLS. */
export function attemptCookies(cookieHeader: string | undefined, { state }: SignInAttempt, attempt: string, secure: boolean): string[] {
  const before = pairsOf(cookieHeader, secure).map(([name]) => name);
  const dropped = before.length < ATTEMPTS_MAX ? [] : before.map((name) => cookie(name, '', 0, secure));
  return [...dropped, cookie(nameOf(state, secure), attempt, ATTEMPT_MS / 1000, secure)];
}

/** What the browser keeps of the attempt with this state; `undefined` if nothing, or if it has two. */
export function keptAttempt(cookieHeader: string | undefined, state: string, secure: boolean): string | undefined {
  const found = pairsOf(cookieHeader, secure).filter(([name]) => name === nameOf(state, secure));
  return found.length === 1 ? found[0]![1] : undefined;
}

export function droppedAttempt(state: string, secure: boolean): string {
  return cookie(nameOf(state, secure), '', 0, secure);
}

function pairsOf(cookieHeader: string | undefined, secure: boolean): (readonly [name: string, value: string])[] {
  return (cookieHeader ?? '').split(';').flatMap((written) => {
    const [name = '', value = ''] = written.trim().split('=', 2);
    return name.startsWith(prefixOf(secure)) && /^[\w-]{1,60}$/.test(name) ? [[name, value] as const] : [];
  });
}

function nameOf(state: string, secure: boolean): string {
  return prefixOf(secure) + state.slice(0, STATE_CHARACTERS);
}

function prefixOf(secure: boolean): string {
  return secure ? OF_THIS_HOST + NAME : NAME;
}

/** `Lax`: the browser comes back from another site. */
function cookie(name: string, value: string, seconds: number, secure: boolean): string {
  const where = secure ? 'Path=/; Secure' : `Path=${CONSOLE_PREFIX}/oidc`;
  return `${name}=${value}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
}
