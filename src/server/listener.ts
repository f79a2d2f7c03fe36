// The interface of HTTP listeners, shared by both libraries, and how one is drained: it stops
// accepting, lets requests in flight finish, closes idle connections politely, and only then cuts
// the rest.
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../core/gateway.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';

/** A certificate with its chain, and its private key, in PEM. */
export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** What to use, if the files were read before; they may have changed since. */
  readonly contents?: TlsPair;
}

export interface ListenerOptions {
  readonly gateway: Gateway;
  readonly problems: ProblemWriter;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Fails if the port is in use (default); `false` for workers that share it on purpose. */
  readonly exclusive?: boolean;
  /** Longer bodies are refused, and read only to be dropped. */
  readonly bodyBytesMax: number;
  /** Minimum time that an idle connection stays open. Default 8, which every library supports. */
  readonly idleSeconds?: number;
  readonly tls?: TlsFiles;
}

export interface Listener {
  /** Name and version of its library: `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
  readonly library: string;
  readonly address: { readonly host: string; readonly port: number };
  readonly connections: number;
  /** Answers that close their connection and may not have been fully handed to the system yet. */
  readonly unsent: number;
  /** Refuses new connections; open ones continue to be served. */
  stopAccepting(): void;
  /** Makes every further answer close its connection. Call it after `stopAccepting`. */
  beginLastAnswers(): void;
  /**
   * Uses the files for new connections; open ones keep their certificate. Throws a `ListenError` if
   * the files cannot be used, and keeps the current ones.
   */
  renewTls(files: TlsFiles): TlsRenewal;
  /** Cuts all remaining connections. */
  close(): void;
}

export interface TlsRenewal {
  /** `false` if certificate and key are the ones already in use. */
  readonly changed: boolean;
  /** Expiry of the certificate, in RFC 3339. */
  readonly validTo: string;
}

/** Limit for a TLS handshake; uWebSockets.js uses its own timers, with about the same limit. */
export const HANDSHAKE_MS = 10_000;

/** Default of `ListenerOptions.idleSeconds`. */
export const IDLE_SECONDS = 8;

/** State shared by a listener and all its calls. */
export interface ListenerState {
  readonly gateway: Gateway;
  readonly problems: ProblemWriter;
  readonly bodyBytesMax: number;
  /** Every further answer closes its connection. */
  draining: boolean;
  /** Number of open connections, updated by the listener. */
  connections: number;
  /** Number of connections that were open when draining began. */
  connectionsAtDrain: number;
  /** Answers since draining began; each closes its connection as soon as it is sent. */
  lastAnswers: number;
}

export function openListenerState({ gateway, problems, bodyBytesMax }: ListenerOptions): ListenerState {
  const counts = { connections: 0, connectionsAtDrain: 0, lastAnswers: 0 };
  return { gateway, problems, bodyBytesMax, draining: false, ...counts };
}

/** Operations that depend on the library. */
interface ListenerActions {
  readonly stopAccepting: () => void;
  readonly renewTls: (files: TlsFiles) => TlsRenewal;
  /** Closes the port, if still open, and every connection. */
  readonly cut: () => void;
}

/** Builds a `Listener` from the actions of a library. */
export function listenerOf(shared: ListenerState, library: string, address: Listener['address'], actions: ListenerActions): Listener {
  const beginLastAnswers = (): void => {
    if (shared.draining) return;
    shared.draining = true;
    shared.connectionsAtDrain = shared.connections;
  };
  return {
    library,
    address,
    renewTls: actions.renewTls,
    get connections() {
      return shared.connections;
    },
    /** At least so many answers wait for slow readers: last answers minus closed connections. */
    get unsent() {
      return Math.max(0, shared.lastAnswers - (shared.connectionsAtDrain - shared.connections));
    },
    stopAccepting: actions.stopAccepting,
    beginLastAnswers,
    close() {
      beginLastAnswers();
      actions.cut();
    },
  };
}

/** Limit for the request line and all fields together, the same for both libraries. */
export const HEAD_BYTES_MAX = 16_384;

/** Why a listener did not start: one line for the operator. */
export class ListenError extends Error {
  readonly reason: 'port_in_use' | 'cannot_listen';

  constructor(reason: ListenError['reason'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ListenError';
    this.reason = reason;
  }
}

const UNRESOLVED = 'the host name does not resolve; write an IP address';
const LISTEN_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop what listens there, or choose another port',
  EADDRNOTAVAIL: 'this machine does not have that address; use one of its own, or 0.0.0.0',
  EACCES: 'ports below 1024 need a privilege; choose a higher one',
  ENOTFOUND: UNRESOLVED,
  EAI_AGAIN: UNRESOLVED,
};

/** Translates the operating system's error code into a message. */
export function listenError(host: string, port: number, code: string | undefined): ListenError {
  const where = `cannot listen on ${host}:${port}`;
  const advice = LISTEN_ADVICE[code ?? ''] ?? `the system says ${code ?? 'nothing further'}; check host and port`;
  return new ListenError(code === 'EADDRINUSE' ? 'port_in_use' : 'cannot_listen', `${where}: ${advice}`);
}

/**
 * The port if it is free now, or a free one for 0: uWebSockets.js does not share a port chosen by
 * the system. Rejects with a `ListenError`.
 */
export function freePortOf(host: string, port: number): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(listenError(host, port, error.code)));
    probe.listen({ host, port, exclusive: true }, () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}

interface DrainOptions {
  readonly listener: Listener;
  readonly gateway: Gateway;
  /** Whatever is in flight after this time is cut. */
  readonly deadlineMs: number;
  /**
   * How long a connection stays silent before it is cut (default 1000). HTTP cannot announce its
   * end, so each may send one more request, which is answered with `Connection: close`.
   */
  readonly quietMs?: number;
}

/** How often activity is checked. */
const TICK_MS = 20;
/** How long cut requests may take to end, so that they can be settled. */
const CALL_OFF_MS = 1000;

/** Resolves with the number of requests that had to be cut; 0 if all were answered. */
export async function drain({ listener, gateway, deadlineMs, quietMs = 1000 }: DrainOptions): Promise<number> {
  listener.stopAccepting();
  listener.beginLastAnswers();
  const ending = new AbortController();
  const { signal } = ending;
  const deadline = delay(deadlineMs, undefined, { signal }).catch(() => undefined);
  await Promise.race([lastWords(listener, gateway, quietMs, signal), deadline]);
  ending.abort();
  const cut = gateway.inFlight;
  listener.close();
  // Closed connections are reported in the next turn, which cancels their requests.
  await nextTurn();
  await Promise.race([gateway.idle(), delay(CALL_OFF_MS, undefined, { ref: false })]);
  return cut;
}

/** Resolves when all connections have had a last answer and closed, or the rest stay silent. */
async function lastWords(listener: Listener, gateway: Gateway, quietMs: number, signal: AbortSignal): Promise<void> {
  let open = listener.connections;
  let leftMs = quietMs;
  while (!signal.aborted) {
    await gateway.idle();
    const before = open;
    open = listener.connections;
    if (open === 0) return;
    // Each answer closes its connection now, so activity shows as a changed number of them.
    if (open !== before || listener.unsent > 0) leftMs = quietMs;
    else if (leftMs <= 0) return;
    await delay(TICK_MS);
    leftMs -= TICK_MS;
  }
}
