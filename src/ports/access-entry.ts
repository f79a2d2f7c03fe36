// The access log: one entry per request, of fields that are safe to keep.

export interface AccessEntry {
  readonly requestId: string;
  /** A route's name, or one of the fixed names for what matched none. */
  readonly route: string;
  /** `undefined` when the caller left before there was an answer. */
  readonly status: number | undefined;
  /** Problem code, `ok`, or `client_closed`. */
  readonly code: string;
  readonly teamId: string | undefined;
  readonly keyId: string | undefined;
  /** Characters charged: 0 for whatever is not a delivered translation. */
  readonly characters: number;
  readonly attempts: number;
  /** Name of the engine that answered, or was tried last; `undefined` where none was. */
  readonly engine: string | undefined;
  /** The client's IP address; without trusted proxies in the configuration only where the key is allowed from certain addresses. */
  readonly client: string | undefined;
  readonly durationMs: number;
  readonly storeMs: number;
  readonly engineMs: number;
}

export interface AccessLog {
  record(entry: AccessEntry): void;
}
