// The address of a replica: parses its URL as an operator writes it, opens sockets to it, and
// classifies connection errors.
import { connect as connectTcp, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FailureCause, FailureDetail } from '../../ports/engine.ts';

const CAUSES: Readonly<Record<string, FailureCause>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'name_unknown',
  EAI_AGAIN: 'name_unknown',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ETIMEDOUT: 'silent',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  CERT_UNTRUSTED: 'tls_untrusted',
  CERT_SIGNATURE_FAILURE: 'tls_untrusted',
  INVALID_CA: 'tls_untrusted',
};

/** Why the connection failed; `undefined` if there is no specific cause. */
export function connectCauseOf(error: unknown, secure: boolean): FailureCause | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Any other error during a TLS connection: no TLS there, or no version in common.
  return CAUSES[code] ?? (secure ? 'tls_handshake' : undefined);
}

export class Origin {
  /** As in the `Host` field. */
  readonly host: string;
  /** The socket event after which requests can be sent. */
  readonly readyEvent: 'connect' | 'secureConnect';
  readonly #hostname: string;
  readonly #port: number;
  /** The latest TLS session, which halves the handshake of the next connection. */
  #session: Buffer | undefined = undefined;

  constructor(url: URL) {
    const secure = url.protocol === 'https:';
    this.host = url.host;
    this.readyEvent = secure ? 'secureConnect' : 'connect';
    this.#hostname = url.hostname.replace(/^\[|\]$/g, '');
    this.#port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  }

  /** Connects, with TLS, and disconnects: `undefined`, or why it failed. Never rejects. */
  reach(withinMs: number): Promise<FailureDetail | undefined> {
    return new Promise((resolve) => {
      const socket = this.open({ buffer: Buffer.alloc(1), callback: () => true });
      const end = (failure: FailureDetail | undefined): void => {
        clearTimeout(timer);
        socket.destroy();
        resolve(failure);
      };
      const timer = setTimeout(() => end({ failure: 'connect', cause: 'silent' }), withinMs);
      socket.once(this.readyEvent, () => end(undefined));
      // Stays registered: the first error ends it, and a later one must not end the process.
      socket.on('error', (error) => end({ failure: 'connect', cause: connectCauseOf(error, this.readyEvent === 'secureConnect') }));
    });
  }

  open(onread: OnReadOpts): Socket {
    const address = { host: this.#hostname, port: this.#port, onread };
    if (this.readyEvent === 'connect') return connectTcp(address).setNoDelay(true);
    const socket = connectTls({
      ...address,
      // HTTP/2 would multiplex many calls on one connection and lose them together.
      ALPNProtocols: ['http/1.1'],
      // An IP address must not be sent as the server name; the certificate is still checked.
      ...(isIP(this.#hostname) === 0 ? { servername: this.#hostname } : {}),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    socket.on('session', (session: Buffer) => {
      this.#session = session;
    });
    return socket.setNoDelay(true);
  }
}

/** Without the common prefix of its protocol's calls, so that it is never there twice. */
export function replicaAddress(text: string, pathPrefix: string | undefined): URL {
  const url = readEngineUrl(text);
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (pathPrefix !== undefined && url.pathname.endsWith(pathPrefix)) url.pathname = url.pathname.slice(0, -pathPrefix.length);
  return url;
}

/** The URL for display: without a trailing slash, which most people omit. */
export function shownUrl(text: string): string {
  return text.replace(/\/+$/, '');
}

/** Throws one clear line, which omits the URL if it contains credentials. */
export function readEngineUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    throw new Error(`engine URL for ${url.host}: must not hold credentials; put them into a proxy in front of the engine`);
  }
  const right = url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === '';
  // With an @ it may contain a password, even if it is no URL, so it is not shown.
  const shown = text.includes('@') ? '' : ` "${text}"`;
  if (!right) throw new Error(`engine URL${shown}: must be http(s)://HOST[:PORT][/PATH], without query or fragment`);
  return url;
}
