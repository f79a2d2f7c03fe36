// Compares operators' tokens, and counts wrong ones by address. After many of them the answer is `wait`, except for the right token.
import { createHash, timingSafeEqual } from 'node:crypto';
import { callerNetwork } from '../domain/client-address.ts';

export interface SignInOptions {
  readonly token: string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** `wait`: wrong, and too often of late. */
export type SignIn = 'right' | 'wrong' | 'wait';

const WINDOW_MS = 60_000;
const WRONG_MAX = 10;
/** Beyond this many, the address whose last wrong token is the oldest is forgotten. */
const ADDRESSES_MAX = 10_000;

export class SignInAttempts {
  readonly #digest: Buffer;
  readonly #now: () => number;
  /** When the wrong ones of an address came, oldest first; addresses in the order of their last one. */
  readonly #wrong = new Map<string, number[]>();

  constructor({ token, now }: SignInOptions) {
    this.#digest = digest(token);
    this.#now = now;
  }

  /** `token` is what was sent, `undefined` when there was none. */
  judge(token: string | undefined, address: string): SignIn {
    // Digests are of one length: the time of the comparison reveals neither how much was right nor how long the token is.
    if (token !== undefined && timingSafeEqual(digest(token), this.#digest)) return 'right';
    return this.#count(callerNetwork(address)) > WRONG_MAX ? 'wait' : 'wrong';
  }

  /** Counts a wrong token, and returns how many this address has sent within the last minute. */
  #count(address: string): number {
    const nowMs = this.#now();
    const recent = (this.#wrong.get(address) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS);
    // One more than the limit is all that has to be known.
    if (recent.length <= WRONG_MAX) recent.push(nowMs);
    this.#wrong.delete(address);
    this.#wrong.set(address, recent);
    if (this.#wrong.size > ADDRESSES_MAX) this.#wrong.delete(this.#wrong.keys().next().value!);
    return recent.length;
  }
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
