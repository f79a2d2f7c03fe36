// The operators in the configuration: who has a token, and what they may currently do.
import { createHash, timingSafeEqual } from 'node:crypto';
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
  return createHash('sha256').update(token).digest();
}
