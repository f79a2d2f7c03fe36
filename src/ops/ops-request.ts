// What the ops listener hands to those who answer more than a fixed page, and what they give back.
import type { IncomingHttpHeaders } from 'node:http';

export interface OpsRequest {
  readonly method: string;
  /** The raw path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Complete; at most `bodyBytesMax` of the app that answers. */
  readonly body: Buffer;
  /** Of the connection; empty when it is gone already. */
  readonly remoteAddress: string;
}

export interface OpsAnswer {
  readonly status: number;
  /** `undefined` for an answer without a body. */
  readonly contentType: string | undefined;
  readonly body: string | Buffer;
  /** Sent in the place of `body`, as it is read. Where it fails the connection ends, so that no one takes a part for the whole. */
  readonly pieces?: AsyncIterable<string>;
  /** `Content-Security-Policy`; without it nothing may load or run. */
  readonly security?: string;
  /** Further fields; their values are never taken from a request unchecked. */
  readonly headers?: Readonly<Record<string, string>>;
}

const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

/** What every page is sent with; `security` as in `OpsAnswer`. */
export function securityFields(security = NOTHING_RUNS): Readonly<Record<string, string>> {
  return { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': security, 'Referrer-Policy': 'no-referrer' };
}

/** Whatever answers all paths that begin with `prefix`. */
export interface OpsApp {
  /** `/admin/v1`: this path and all below it. */
  readonly prefix: string;
  readonly bodyBytesMax: number;
  /** Never rejects with what an operator must not see: a rejection is answered 500 without a word of it. */
  handle(request: OpsRequest): Promise<OpsAnswer>;
  /** For a body over `bodyBytesMax`. */
  tooLarge(request: OpsRequest): OpsAnswer;
}
