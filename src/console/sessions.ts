// Who is signed in to the console: sessions in the memory of the one process that has the ops listener, an hour at most.
import { createHash, randomBytes } from 'node:crypto';
import type { Html } from '../docs/html.ts';

/** Also the cookie's `Max-Age`. */
export const SESSION_SECONDS = 3600;
/** Beyond it the oldest session ends. */
const SESSIONS_MAX = 1000;
/** Notices of a session that were not shown yet; beyond this many the oldest is forgotten. */
const NOTICES_MAX = 16;

export interface Session {
  /** The digest of the cookie's secret: of no use as a cookie. */
  readonly id: string;
  /** What every form of the session carries. */
  readonly formToken: string;
  /** Keeps a notice to be shown once, and returns its name, which is fit for a URL. */
  leave(notice: Html): string;
  /** `undefined` when there is none of this name, or it was taken before. */
  take(name: string): Html | undefined;
}

interface KeptSession {
  readonly session: Session;
  readonly untilMs: number;
}

/** `now` is a monotonic clock in milliseconds. */
export class Sessions {
  readonly #now: () => number;
  /** By the digest of the cookie's secret: the secret itself is not kept. Oldest first. */
  readonly #kept = new Map<string, KeptSession>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Starts a session and returns the secret for its cookie. */
  start(): string {
    const secret = randomToken();
    const id = digest(secret);
    this.#kept.set(id, { session: newSession(id), untilMs: this.#now() + SESSION_SECONDS * 1000 });
    if (this.#kept.size > SESSIONS_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return secret;
  }

  /** `undefined` without a cookie, and for one that belongs to no session or to one that has ended. */
  find(cookie: string | undefined): Session | undefined {
    if (cookie === undefined) return undefined;
    const id = digest(cookie);
    const kept = this.#kept.get(id);
    if (kept === undefined) return undefined;
    if (kept.untilMs > this.#now()) return kept.session;
    this.#kept.delete(id);
    return undefined;
  }

  end(session: Session): void {
    this.#kept.delete(session.id);
  }
}

function newSession(id: string): Session {
  const notices = new Map<string, Html>();
  return {
    id,
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

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
