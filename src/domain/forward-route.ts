// A forward route as the operator has it: what goes on to another server, by which rules, and what may come back.
import type { ProblemCode } from '../core/problem.ts';

export interface ForwardRoute {
  /** Exact, or `/…/*`. */
  readonly path: string;
  readonly methods: readonly string[];
  /** Scheme, host and port. */
  readonly origin: string;
  /** Charged when the whole answer was delivered; 0 for none. */
  readonly chargeCharacters: number;
  readonly bodyBytesMax: number;
  /** How long the upstream may be silent. */
  readonly timeoutMs: number;
  /** Whether an answer with an `X-Request-Id` that is not ours is unusable. */
  readonly checkIds: boolean;
  /** Lower-case names of the caller's fields that go on. */
  readonly requestFields: readonly string[];
  /** Lower-case names of the upstream's fields that go back. */
  readonly responseFields: readonly string[];
  readonly statuses: ReadonlyMap<number, ProblemCode>;
  /** Sent with every request; lower-case names. May be secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Methods whose body a server may ignore: such a request with a body is refused. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'DELETE', 'OPTIONS']);
/** Methods that change nothing, so that a failed attempt is repeated once. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'OPTIONS']);

export function takesBody(method: string): boolean {
  return !BODILESS.has(method);
}

export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}
