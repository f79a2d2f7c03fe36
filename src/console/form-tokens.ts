// Anti-forgery tokens: for the sign-in form, which has no session yet, signed and good for an hour; and how any two are compared.
import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

const GOOD_MS = 3_600_000;
const FORM = /^(\d{1,15})\.([\w-]{43})$/;

/** `now` is a monotonic clock in milliseconds. A restart makes all of them stale. */
export class SignInFormTokens {
  readonly #secret = randomBytes(32);
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  next(): string {
    const madeMs = Math.floor(this.#now());
    return `${madeMs}.${this.#signature(madeMs)}`;
  }

  isGood(token: string): boolean {
    const [, made, signature] = FORM.exec(token) ?? [];
    if (made === undefined || signature === undefined) return false;
    const ageMs = this.#now() - Number(made);
    return ageMs >= 0 && ageMs < GOOD_MS && isSame(signature, this.#signature(Number(made)));
  }

  #signature(madeMs: number): string {
    return createHmac('sha256', this.#secret).update(String(madeMs)).digest('base64url');
  }
}

/** Tells nothing by the time that it takes. */
export function isSame(sent: string, right: string): boolean {
  return timingSafeEqual(hash('sha256', sent, 'buffer'), hash('sha256', right, 'buffer'));
}
