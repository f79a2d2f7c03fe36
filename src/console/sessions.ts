// Sessions of the console: who is signed in, the session cookie, tokens of the sign-in form.
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KnownOperator, Operators } from '../admin/operators.ts';
import type { Html } from '../docs/html.ts';
import { CONSOLE_PREFIX } from './console-route.ts';

/** Also the cookie's `Max-Age`. */
const SESSION_SECONDS = 3600;
/** Beyond this many, the oldest session ends. */
const SESSIONS_MAX = 1000;
/** Notices of a session that were not shown yet; beyond this many, the oldest is dropped. */
const NOTICES_MAX = 16;

export class Session {
  /** The digest of the cookie's secret: of no use as a cookie. */
  readonly id: string;
  readonly untilMs: number;
  /** Who has signed in, as currently configured. */
  operator: KnownOperator;
  /** In every form of the session. */
  readonly formToken = randomToken();
  readonly #notices = new Map<string, Html>();

  constructor(id: string, untilMs: number, operator: KnownOperator) {
    this.id = id;
    this.untilMs = untilMs;
    this.operator = operator;
  }

  /** Keeps a notice to show once, and returns its name, which is safe in a URL. */
  leave(notice: Html): string {
    const name = randomBytes(9).toString('base64url');
    this.#notices.set(name, notice);
    dropOldest(this.#notices, NOTICES_MAX);
    return name;
  }

  /** `undefined` if there is none with this name, or it was shown before. */
  take(name: string): Html | undefined {
    const notice = this.#notices.get(name);
    this.#notices.delete(name);
    return notice;
  }
}

/** `now` is a monotonic clock in milliseconds. */
export class Sessions {
  readonly #operators: Pick<Operators, 'now'>;
  readonly #now: () => number;
  /** By the digest of the cookie's secret: the secret itself is not stored. Oldest first. */
  readonly #sessions = new Map<string, Session>();

  constructor(operators: Pick<Operators, 'now'>, now: () => number) {
    this.#operators = operators;
    this.#now = now;
  }

  /** Starts a session and returns the secret for its cookie. */
  start(operator: KnownOperator): string {
    const secret = randomToken();
    const id = hash('sha256', secret, 'base64url');
    this.#sessions.set(id, new Session(id, this.#now() + SESSION_SECONDS * 1000, operator));
    dropOldest(this.#sessions, SESSIONS_MAX);
    return secret;
  }

  /** `undefined` for a cookie of no session, or of one that has ended by age or with its token. */
  find(cookie: string | undefined): Session | undefined {
    const session = cookie === undefined ? undefined : this.#sessions.get(hash('sha256', cookie, 'base64url'));
    if (session === undefined) return undefined;
    const operator = session.untilMs > this.#now() ? this.#operators.now(session.operator) : undefined;
    if (operator === undefined) return this.end(session);
    session.operator = operator;
    return session;
  }

  end(session: Session): undefined {
    this.#sessions.delete(session.id);
  }
}

/** Of those that were set first; at most one is too many. */
export function dropOldest(map: Map<string, unknown>, most: number): void {
  if (map.size > most) map.delete(map.keys().next().value!);
}

/** 256 bits, for a cookie or a form. */
function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

const NAME = 'lingate_console';
const ATTRIBUTES = `Path=${CONSOLE_PREFIX}; HttpOnly; SameSite=Strict`;

/** `secure` if the browser came over TLS: it then never sends the cookie without. Without a secret it is cleared. */
export function sessionCookie(secret: string, secure: boolean): string {
  return `${NAME}=${secret}; ${ATTRIBUTES}; Max-Age=${secret === '' ? 0 : SESSION_SECONDS}${secure ? '; Secure' : ''}`;
}

/** `undefined` without one, and with two: one is another program's on this host. */
export function cookieOf(header: string | undefined, name = NAME): string | undefined {
  const found = (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`));
  return found.length === 1 ? found[0]!.slice(name.length + 1) : undefined;
}

const HOUR_MS = 3_600_000;

/** Another one each hour, good until the next one ends. A restart invalidates all. */
export class SignInFormTokens {
  readonly #secret = randomBytes(32);
  readonly #now: () => number;

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  next(hoursAgo = 0): string {
    const hour = Math.floor(this.#now() / HOUR_MS) - hoursAgo;
    return createHmac('sha256', this.#secret).update(String(hour)).digest('base64url');
  }

  isGood(token: string): boolean {
    return isSame(token, this.next()) || isSame(token, this.next(1));
  }
}

/** Compares in constant time. */
export function isSame(sent: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', right, 'buffer'));
}
