// The operators that the configuration lists: whose token it is, and what they may do at this moment.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Operator, OperatorToken } from '../domain/operator.ts';

/** Whoever has shown a token. */
export interface KnownOperator extends Operator {
  /** Of the token: what was signed in with, which the token cannot be told from. */
  readonly tokenDigest: Buffer;
}

export class Operators {
  #known: readonly KnownOperator[];

  constructor(operators: readonly OperatorToken[]) {
    this.#known = knownOf(operators);
  }

  /** Tokens that are not among these count for nothing from now on, and end the sessions that were begun with them. */
  replace(operators: readonly OperatorToken[]): void {
    this.#known = knownOf(operators);
  }

  byToken(token: string): KnownOperator | undefined {
    return this.#byDigest(digest(token));
  }

  /** The operator whose token it was, as the configuration has them now. */
  now({ tokenDigest }: KnownOperator): KnownOperator | undefined {
    return this.#byDigest(tokenDigest);
  }

  /** All are compared, and digests are of one length: the time tells neither how much was right nor whose token it is. */
  #byDigest(sought: Buffer): KnownOperator | undefined {
    let found: KnownOperator | undefined;
    for (const operator of this.#known) {
      if (timingSafeEqual(operator.tokenDigest, sought)) found = operator;
    }
    return found;
  }
}

/** Who makes a change, as the audit has it. */
export function actorOf(front: 'admin' | 'console', { name }: Operator, address: string): string {
  return `${front}:${name}@${address.replace(/^::ffff:(?=\d+\.)/, '')}`;
}

function knownOf(operators: readonly OperatorToken[]): readonly KnownOperator[] {
  return operators.map(({ name, role, token }) => ({ name, role, tokenDigest: digest(token) }));
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
