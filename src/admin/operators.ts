// The operators in the configuration: who has a token, or a role by a group of a provider, and what
// they may currently do; and how many wrong tokens an address may send.
import { hash, timingSafeEqual } from 'node:crypto';
import type { GroupRoles, Operator, OperatorRole, OperatorToken } from '../domain/operator.ts';
import type { ProvenPerson } from '../ports/identity-provider.ts';
import { callerNetwork } from '../domain/client-address.ts';

/** Someone who has presented a valid token, or of whom a provider has proven who they are. */
export interface KnownOperator extends Operator {
  readonly by: Proof;
}

/** Identifies the token of a session without storing it, or the person. */
type Proof = { readonly kind: 'token'; readonly digest: Buffer } | { readonly kind: 'person'; readonly person: ProvenPerson };

interface TokenOperator extends KnownOperator {
  readonly by: Extract<Proof, { readonly kind: 'token' }>;
}

export class Operators {
  #known: readonly TokenOperator[];
  #groups: GroupRoles | undefined;

  /** Without `groups` nobody signs in by a provider. */
  constructor(operators: readonly OperatorToken[], groups?: GroupRoles) {
    this.#known = knownOf(operators);
    this.#groups = groups;
  }

  /** Other tokens, and people in none of the groups, are refused, and their sessions end. */
  replace(operators: readonly OperatorToken[], groups?: GroupRoles): void {
    this.#known = knownOf(operators);
    this.#groups = groups;
  }

  /** Whether anyone can sign in with a token. */
  get hasTokens(): boolean {
    return this.#known.length > 0;
  }

  byToken(token: string): KnownOperator | undefined {
    return this.#byDigest(digest(token));
  }

  /** `undefined` if none of the person's groups has a role. */
  byPerson(person: ProvenPerson): KnownOperator | undefined {
    const groups = this.#groups;
    if (groups === undefined || groups.issuer !== person.issuer) return undefined;
    const isIn = (some: readonly string[]): boolean => some.some((group) => person.groups.includes(group));
    const role: OperatorRole | undefined = isIn(groups.manage) ? 'manage' : isIn(groups.read) ? 'read' : undefined;
    return role && { name: this.#nameOf(person), role, by: { kind: 'person', person } };
  }

  /** The operator with this token, or this person, as currently configured. */
  now({ by }: KnownOperator): KnownOperator | undefined {
    return by.kind === 'token' ? this.#byDigest(by.digest) : this.byPerson(by.person);
  }

  /** Nobody is mistaken for the operator of a token: names of these have no colon. */
  #nameOf({ name }: ProvenPerson): string {
    return this.#known.some((operator) => operator.name.toLowerCase() === name.toLowerCase()) ? `oidc:${name}` : name;
  }

  /** Compares all digests, of the same length, so that the time reveals nothing of the token. */
  #byDigest(sought: Buffer): KnownOperator | undefined {
    let found: KnownOperator | undefined;
    for (const operator of this.#known) {
      if (timingSafeEqual(operator.by.digest, sought)) found = operator;
    }
    return found;
  }
}

/** Who makes a change, for the audit. */
export function actorOf(front: 'admin' | 'console', { name }: Pick<Operator, 'name'>, address: string): string {
  return `${front}:${name}@${address.replace(/^::ffff:(?=\d+\.)/, '')}`;
}

function knownOf(operators: readonly OperatorToken[]): readonly TokenOperator[] {
  return operators.map(({ name, role, token }) => ({ name, role, by: { kind: 'token', digest: digest(token) } }));
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

interface SignInOptions {
  readonly operators: Operators;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** `wait`: the token is wrong, and there were too many wrong ones recently. */
type SignIn = KnownOperator | 'wrong' | 'wait';

/** After too many wrong tokens of an address it is `wait`, unless the token is right. */
export class SignInAttempts {
  readonly #operators: Operators;
  readonly #wrong: RecentFailures;

  constructor({ operators, now }: SignInOptions) {
    this.#operators = operators;
    this.#wrong = new RecentFailures(now);
  }

  /** `token` is what was sent, `undefined` if nothing was. */
  judge(token: string | undefined, address: string): SignIn {
    const operator = token === undefined ? undefined : this.#operators.byToken(token);
    if (operator !== undefined) return operator;
    return this.#wrong.add(address) ? 'wait' : 'wrong';
  }
}

const WINDOW_MS = 60_000;
const FAILURES_MAX = 10;
/** Beyond this many addresses, the one whose last failure is the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

export class RecentFailures {
  readonly #now: () => number;
  /** Of each address's failures, oldest first; addresses in the order of their last one. */
  readonly #failed = new Map<string, number[]>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the address has as many failures as it may have. */
  isFull(address: string): boolean {
    return this.#recent(callerNetwork(address)).length >= FAILURES_MAX;
  }

  /** Counts a failure. `true` if it is one too many. */
  add(address: string): boolean {
    const network = callerNetwork(address);
    const recent = this.#recent(network);
    // More than one above the limit need not be counted.
    if (recent.length <= FAILURES_MAX) recent.push(this.#now());
    this.#failed.delete(network);
    this.#failed.set(network, recent);
    if (this.#failed.size > ADDRESSES_MAX) this.#failed.delete(this.#failed.keys().next().value!);
    return recent.length > FAILURES_MAX;
  }

  #recent(network: string): number[] {
    const nowMs = this.#now();
    return (this.#failed.get(network) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS);
  }
}
