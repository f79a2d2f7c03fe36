// Finds the operator with a token, and counts wrong tokens by address. After too many the answer is `wait`, unless the token is right.
import { callerNetwork } from '../domain/client-address.ts';
import type { KnownOperator, Operators } from './operators.ts';

export interface SignInOptions {
  readonly operators: Operators;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** The operator with the token. `wait`: the token is wrong, and there were too many wrong ones recently. */
export type SignIn = KnownOperator | 'wrong' | 'wait';

const WINDOW_MS = 60_000;
const WRONG_MAX = 10;
/** Beyond this many addresses, the one whose last wrong token is the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

export class SignInAttempts {
  readonly #operators: Operators;
  readonly #now: () => number;
  /** The times of each address's wrong tokens, oldest first; addresses in the order of their last one. */
  readonly #wrong = new Map<string, number[]>();

  constructor({ operators, now }: SignInOptions) {
    this.#operators = operators;
    this.#now = now;
  }

  /** `token` is what was sent, `undefined` if nothing was. */
  judge(token: string | undefined, address: string): SignIn {
    const operator = token === undefined ? undefined : this.#operators.byToken(token);
    if (operator !== undefined) return operator;
    return this.#count(callerNetwork(address)) > WRONG_MAX ? 'wait' : 'wrong';
  }

  /** Counts a wrong token, and returns how many this address has sent within the last minute. */
  #count(address: string): number {
    const nowMs = this.#now();
    const recent = (this.#wrong.get(address) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS);
    // More than one above the limit need not be counted.
    if (recent.length <= WRONG_MAX) recent.push(nowMs);
    this.#wrong.delete(address);
    this.#wrong.set(address, recent);
    if (this.#wrong.size > ADDRESSES_MAX) this.#wrong.delete(this.#wrong.keys().next().value!);
    return recent.length;
  }
}
