// The operators in the configuration: who has a token and what they may currently do, and how many wrong tokens an address may send.
import { hash, timingSafeEqual } from 'node:crypto';
import { callerNetwork } from '../domain/client-address.ts';
import type { Operator, OperatorToken } from '../domain/operator.ts';

/** Someone who has presented a valid token. */
export interface KnownOperator extends Operator {
  /** The token's digest: identifies the token of a session without storing it. */
  readonly tokenDigest: Buffer;
}

export class Operators {
  #known: readonly KnownOperator[];

  constructor(operators: readonly OperatorToken[]) {
    this.#known = knownOf(operators);
  }

  /** Tokens that are not among these are refused from now on, and sessions begun with them end. */
  replace(operators: readonly OperatorToken[]): void {
    this.#known = knownOf(operators);
  }

  byToken(token: string): KnownOperator | undefined {
    return this.#byDigest(digest(token));
  }

  /** The operator with this token, as currently configured. */
  now({ tokenDigest }: KnownOperator): KnownOperator | undefined {
    return this.#byDigest(tokenDigest);
  }

  /** Compares all digests, which have the same length, so that the time reveals nothing about the token. */
  #byDigest(sought: Buffer): KnownOperator | undefined {
    let found: KnownOperator | undefined;
    for (const operator of this.#known) {
      if (timingSafeEqual(operator.tokenDigest, sought)) found = operator;
    }
    return found;
  }
}

/** Who makes a change, for the audit. */
export function actorOf(front: 'admin' | 'console', { name }: Operator, address: string): string {
  return `${front}:${name}@${address.replace(/^::ffff:(?=\d+\.)/, '')}`;
}

function knownOf(operators: readonly OperatorToken[]): readonly KnownOperator[] {
  return operators.map(({ name, role, token }) => ({ name, role, tokenDigest: digest(token) }));
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

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

/** Finds the operator with a token. After too many wrong ones from an address the answer is `wait`, unless the token is right. */
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
