// A forward route as configured: what is forwarded where, by which rules, and what may return.
import type { ProblemCode } from '../core/problem.ts';

/** With the names of the configuration. */
export interface ForwardRoute {
  /** Exact, or `/…/*`. */
  readonly path: string;
  readonly methods: readonly string[];
  /** What it is called in scopes of keys; without a name, keys with scopes may not use it. */
  readonly name?: string | undefined;
  /** Scheme, host and port of the target. */
  readonly origin: string;
  /** Charged after the whole answer has been delivered; 0 for none. */
  readonly charge_characters: number;
  readonly body_bytes: number;
  /** Silence timeout of the upstream. */
  readonly timeout_ms: number;
  readonly check_ids: boolean;
  /** Lower-case names of the caller's fields to forward, and of the upstream's to return. */
  readonly request_fields: readonly string[];
  readonly response_fields: readonly string[];
  readonly statuses: ReadonlyMap<number, ProblemCode>;
  /** Sent with every request; lower-case names. May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Methods whose body a server may ignore: such a request with a body is refused. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'DELETE', 'OPTIONS']);
/** Safe methods, which are retried once. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'OPTIONS']);

export function takesBody(method: string): boolean {
  return !BODILESS.has(method);
}

export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}
