// What every HTTP listener is given and offers, whichever library it uses.
import { SpareRoom } from './body-collector.ts';
import type { Gateway } from '../core/gateway.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface ListenerOptions {
  readonly gateway: Gateway;
  readonly problems: ProblemWriter;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Fail when the port is in use; `false` only for a set of workers that share it on purpose. Default `true`. */
  readonly exclusive?: boolean;
  /** Longer bodies are read and dropped, and refused. */
  readonly bodyBytesMax: number;
  /** An idle connection is kept for at least so long. Default 8, which every library can. */
  readonly idleSeconds?: number;
  readonly tls?: TlsFiles;
}

export interface Listener {
  /** Its library, with the version: `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
  readonly library: string;
  readonly address: { readonly host: string; readonly port: number };
  /** Connections that are open. */
  readonly connections: number;
  /** Answers that close their connection and whose last bytes are not yet known to have been handed to the system. */
  readonly unsent: number;
  /** Refuses new connections; those that are open are served as before. */
  stopAccepting(): void;
  /** Every answer from now on says that its connection closes. To be called when no new ones are accepted. */
  beginLastAnswers(): void;
  /**
   * Takes the files for new connections; those that are open keep what they began with. Only for a listener that speaks TLS.
   * Throws a `ListenError`, and goes on with what it had, when they cannot be used.
   */
  renewTls(files: TlsFiles): TlsRenewal;
  /** Cuts whatever is left. */
  close(): void;
}

export interface TlsRenewal {
  /** `false` when it is the certificate and the key that are in use already. */
  readonly changed: boolean;
  /** Until when the certificate is valid: RFC 3339. */
  readonly validTo: string;
}

/** How long a TLS handshake may take; uWebSockets.js counts it by its own timers, to about as much. */
export const HANDSHAKE_MS = 10_000;

/** Of `ListenerOptions.idleSeconds`. */
export const IDLE_SECONDS = 8;

/** What a listener and all its calls share. */
export interface ListenerState {
  readonly gateway: Gateway;
  readonly problems: ProblemWriter;
  readonly bodyBytesMax: number;
  readonly spareRoom: SpareRoom;
  /** Every answer from now on says that the connection closes. */
  draining: boolean;
  /** Connections that are open; kept by the listener. */
  connections: number;
  /** Connections that were open when draining began. */
  connectionsAtDrain: number;
  /** Answers since draining began; each closes its connection as soon as it is sent. */
  lastAnswers: number;
}

export function openListenerState(options: ListenerOptions): ListenerState {
  const { gateway, problems, bodyBytesMax } = options;
  return {
    gateway,
    problems,
    bodyBytesMax,
    spareRoom: new SpareRoom(),
    draining: false,
    connections: 0,
    connectionsAtDrain: 0,
    lastAnswers: 0,
  };
}

/** From now on connections are closed and none is opened. */
function beginLastAnswers(shared: ListenerState): void {
  if (shared.draining) return;
  shared.draining = true;
  shared.connectionsAtDrain = shared.connections;
}

/** Answers that wait for a slow reader, at least: last answers less connections that are closed. */
function unsentAnswers({ lastAnswers, connections, connectionsAtDrain }: ListenerState): number {
  return Math.max(0, lastAnswers - (connectionsAtDrain - connections));
}

/** What only the library can do. */
export interface ListenerActions {
  readonly stopAccepting: () => void;
  readonly renewTls: (files: TlsFiles) => TlsRenewal;
  /** Closes the port, if it is still open, and every connection. */
  readonly cut: () => void;
}

/** Makes a `Listener` of a library's own. */
export function listenerOf(
  shared: ListenerState,
  library: string,
  address: Listener['address'],
  { stopAccepting, renewTls, cut }: ListenerActions,
): Listener {
  return {
    library,
    address,
    renewTls,
    get connections() {
      return shared.connections;
    },
    get unsent() {
      return unsentAnswers(shared);
    },
    stopAccepting,
    beginLastAnswers: () => beginLastAnswers(shared),
    close() {
      beginLastAnswers(shared);
      cut();
    },
  };
}

/** Request line and fields together; both libraries are held to it. */
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

/** Puts the operating system's error code into words. */
export function listenError(host: string, port: number, code: string | undefined): ListenError {
  const where = `cannot listen on ${host}:${port}`;
  switch (code) {
    case 'EADDRINUSE':
      return new ListenError('port_in_use', `${where}: the port is in use; stop what listens there, or choose another port`);
    case 'EADDRNOTAVAIL':
      return new ListenError('cannot_listen', `${where}: this machine does not have that address; use one of its own, or 0.0.0.0`);
    case 'EACCES':
      return new ListenError('cannot_listen', `${where}: ports below 1024 need a privilege; choose a higher one`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ListenError('cannot_listen', `${where}: the host name does not resolve; write an IP address`);
    case undefined:
    default:
      return new ListenError('cannot_listen', `${where}: the system says ${code ?? 'nothing further'}; check host and port`);
  }
}
