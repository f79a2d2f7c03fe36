// The types of requests and answers between the ops listener and its apps.
import type { IncomingHttpHeaders } from 'node:http';

export interface OpsRequest {
  readonly method: string;
  /** The raw path, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Complete; at most the app's `bodyBytesMax`. */
  readonly body: Buffer;
  /** Of the connection; empty if that is already closed. */
  readonly remoteAddress: string;
}

export interface OpsAnswer {
  readonly status: number;
  /** `undefined` for an answer without a body. */
  readonly contentType: string | undefined;
  readonly body: string | Buffer;
  /** Sent instead of `body`, as it is read. If reading fails the connection is closed, so that a partial answer does not look complete. */
  readonly pieces?: AsyncIterable<string>;
  /** `Content-Security-Policy`; without it nothing may load or run. */
  readonly security?: string;
  /** Further headers; their values never contain unchecked request data. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`, instead of one in `headers`. */
  readonly cookies?: readonly string[];
}

const NOTHING_RUNS = "default-src 'none'; frame-ancestors 'none'";

/** The headers of every page; `security` as in `OpsAnswer`. */
export function securityFields(security = NOTHING_RUNS): Readonly<Record<string, string>> {
  return { 'X-Content-Type-Options': 'nosniff', 'Content-Security-Policy': security, 'Referrer-Policy': 'no-referrer' };
}

/** Handles all paths that begin with `prefix`. */
export interface OpsApp {
  /** `/admin/v1`: this path and everything below it. */
  readonly prefix: string;
  readonly bodyBytesMax: number;
  /** Never rejects with anything that an operator must not see: a rejection is answered 500 without details. */
  handle(request: OpsRequest): Promise<OpsAnswer>;
  /** For a body over `bodyBytesMax`. */
  tooLarge(request: OpsRequest): OpsAnswer;
}
