// Where a replica listens, and how a socket to it is opened.
import { connect as connectTcp, isIP } from 'node:net';
import type { OnReadOpts, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

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
