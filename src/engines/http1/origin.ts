// Where a replica listens, how a socket to it is opened, and why that failed.
import { connect as connectTcp, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { FailureCause } from '../../ports/engine.ts';

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

/** Why there was no connection; `undefined` for what has no word of its own. */
export function connectCauseOf(error: unknown, secure: boolean): FailureCause | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // Whatever else ends a connection that is to become a secure one: the other side speaks no TLS, or none that we do.
  return CAUSES[code] ?? (secure ? 'tls_handshake' : undefined);
}

export class Origin {
  /** As the `Host` field names it. */
  readonly host: string;
  /** What a socket emits once requests can be sent over it. */
  readonly readyEvent: 'connect' | 'secureConnect';
  readonly #hostname: string;
  readonly #port: number;
  /** The latest TLS session, which spares the next connection half of the handshake. */
  #session: Buffer | undefined = undefined;

  constructor(url: URL) {
    const secure = url.protocol === 'https:';
    this.host = url.host;
    this.readyEvent = secure ? 'secureConnect' : 'connect';
    this.#hostname = url.hostname.replace(/^\[|\]$/g, '');
    this.#port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  }

  open(onread: OnReadOpts): Socket {
    const address = { host: this.#hostname, port: this.#port, onread };
    if (this.readyEvent === 'connect') return connectTcp(address).setNoDelay(true);
    const socket = connectTls({
      ...address,
      // HTTP/2 would put many calls on one connection and lose them together.
      ALPNProtocols: ['http/1.1'],
      // A name that is an address must not be sent; the certificate is checked against it all the same.
      ...(isIP(this.#hostname) === 0 ? { servername: this.#hostname } : {}),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    socket.on('session', (session: Buffer) => {
      this.#session = session;
    });
    return socket.setNoDelay(true);
  }
}
