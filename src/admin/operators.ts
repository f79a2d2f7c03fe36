// The operators in the configuration: who has a token, or a role by a group of a provider, and what
// they may currently do; and how many wrong tokens an address may send.
import { hash, timingSafeEqual } from 'node:crypto';
import type { OidcSettings, Operator, OperatorToken, ProvenPerson } from '../domain/operator.ts';
import { callerNetwork } from '../domain/client-address.ts';

/** Someone who has presented a valid token, or of whom a provider has proven who they are. */
export interface KnownOperator extends Operator {
  /** The digest of a session's token, which is not stored itself, or the person. */
  readonly by: { readonly kind: 'token'; readonly digest: Buffer } | { readonly kind: 'person'; readonly person: ProvenPerson };
}

/** Whose groups have which role. */
type GroupRoles = Pick<OidcSettings, 'issuer' | 'roles'>;

export class Operators {
  #listed: readonly (Operator & { readonly digest: Buffer })[] = [];
  #groups: GroupRoles | undefined;

  /** Without `groups` nobody signs in by a provider. */
  constructor(operators: readonly OperatorToken[], groups?: GroupRoles) {
    this.replace(operators, groups);
  }

  /** Other tokens, and people in none of the groups, are refused, and their sessions end. */
  replace(operators: readonly OperatorToken[], groups?: GroupRoles): void {
    this.#listed = operators.map(({ name, role, token }) => ({ name, role, digest: digestOf(token) }));
    this.#groups = groups;
  }

  /** Whether anyone can sign in with a token. */
  get hasTokens(): boolean {
    return this.#listed.length > 0;
  }

  byToken(token: string): KnownOperator | undefined {
    return this.#byDigest(digestOf(token));
  }

  /** `undefined` if none of the person's groups has a role. */
  byPerson(person: ProvenPerson): KnownOperator | undefined {
    const { issuer, roles } = this.#groups ?? {};
    if (issuer !== person.issuer) return undefined;
    const role = (['manage', 'read'] as const).find((one) => roles?.[one].some((group) => person.groups.includes(group)));
    // Nobody is mistaken for the operator of a token: names of these have no colon.
    const isTaken = this.#listed.some(({ name }) => name.toLowerCase() === person.name.toLowerCase());
    return role && { name: isTaken ? `oidc:${person.name}` : person.name, role, by: { kind: 'person', person } };
  }

  /** The operator with this token, or this person, as currently configured. */
  now({ by }: KnownOperator): KnownOperator | undefined {
    return by.kind === 'token' ? this.#byDigest(by.digest) : this.byPerson(by.person);
  }

  /** Compares all digests, of the same length, so that the time reveals nothing of the token. */
  #byDigest(digest: Buffer): KnownOperator | undefined {
    const found = this.#listed.filter((one) => timingSafeEqual(one.digest, digest)).at(-1);
    return found && { name: found.name, role: found.role, by: { kind: 'token', digest } };
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Who makes a change, for the audit. */
export function actorOf(front: 'admin' | 'console', { name }: Pick<Operator, 'name'>, address: string): string {
  return `${front}:${name}@${address.replace(/^::ffff:(?=\d+\.)/, '')}`;
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
