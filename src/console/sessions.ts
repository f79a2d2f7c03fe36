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

export interface Session {
  /** The digest of the cookie's secret: of no use as a cookie. */
  readonly id: string;
  /** Who has signed in, as currently configured. */
  readonly operator: KnownOperator;
  /** In every form of the session. */
  readonly formToken: string;
  /** Keeps a notice to show once, and returns its name, which is safe in a URL. */
  leave(notice: Html): string;
  /** `undefined` if there is none with this name, or it was shown before. */
  take(name: string): Html | undefined;
}

interface StoredSession {
  readonly session: Session;
  readonly untilMs: number;
}

/** `now` is a monotonic clock in milliseconds. */
export class Sessions {
  readonly #operators: Pick<Operators, 'now'>;
  readonly #now: () => number;
  /** By the digest of the cookie's secret: the secret itself is not stored. Oldest first. */
  readonly #sessions = new Map<string, StoredSession>();

  constructor(operators: Pick<Operators, 'now'>, now: () => number) {
    this.#operators = operators;
    this.#now = now;
  }

  /** Starts a session and returns the secret for its cookie. */
  start(operator: KnownOperator): string {
    const secret = randomToken();
    const id = hash('sha256', secret, 'base64url');
    this.#sessions.set(id, { session: newSession(id, operator), untilMs: this.#now() + SESSION_SECONDS * 1000 });
    if (this.#sessions.size > SESSIONS_MAX) this.#sessions.delete(this.#sessions.keys().next().value!);
    return secret;
  }

  /** `undefined` for a cookie of no session, or of one that has ended by age or with its token. */
  find(cookie: string | undefined): Session | undefined {
    if (cookie === undefined) return undefined;
    const id = hash('sha256', cookie, 'base64url');
    const entry = this.#sessions.get(id);
    if (entry === undefined) return undefined;
    const operator = entry.untilMs > this.#now() ? this.#operators.now(entry.session.operator) : undefined;
    if (operator !== undefined) return { ...entry.session, operator };
    this.#sessions.delete(id);
    return undefined;
  }

  end(session: Session): void {
    this.#sessions.delete(session.id);
  }
}

function newSession(id: string, operator: KnownOperator): Session {
  const notices = new Map<string, Html>();
  return {
    id,
    operator,
    formToken: randomToken(),
    leave(notice) {
      const name = randomBytes(9).toString('base64url');
      notices.set(name, notice);
      if (notices.size > NOTICES_MAX) notices.delete(notices.keys().next().value!);
      return name;
    },
    take(name) {
      const notice = notices.get(name);
      notices.delete(name);
      return notice;
    },
  };
}

/** 256 bits, for a cookie or a form. */
function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

const NAME = 'lingate_console';
const ATTRIBUTES = `Path=${CONSOLE_PREFIX}; HttpOnly; SameSite=Strict`;

/** `secure` if the browser came over TLS: it then never sends the cookie without. */
export function sessionCookie(secret: string, secure: boolean): string {
  return `${NAME}=${secret}; ${ATTRIBUTES}; Max-Age=${SESSION_SECONDS}${secure ? '; Secure' : ''}`;
}

export function clearedCookie(secure: boolean): string {
  return `${NAME}=; ${ATTRIBUTES}; Max-Age=0${secure ? '; Secure' : ''}`;
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
