// The listener on node:http: strict parsing, HTTP/1.0, and the reference that tests compare the other listener with.
import { createServer as createHttpServer } from 'node:http';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { HeaderFields } from './request-message.ts';
import { HANDSHAKE_MS, HEAD_BYTES_MAX, IDLE_SECONDS, listenError, listenerOf, openListenerState } from './listener.ts';
import type { Listener, ListenerOptions, TlsPair } from './listener.ts';
import { NodeConnection } from './node-connection.ts';
import { pairOf, renewal, samePair } from './tls-files.ts';

const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: HEAD_BYTES_MAX,
  headersTimeout: 10_000,
  // The deadline for a body is enforced by the chain or the call: a long body may take longer than any fixed time.
  requestTimeout: 0,
  connectionsCheckingInterval: 1_000,
  // The framing guard refuses a missing Host with a problem document.
  requireHostHeader: false,
};

/** Length of the accept queue, which the system may cap. When it overflows, callers wait in vain for seconds. */
const BACKLOG_MAX = 4096;

/** Name and version of this listener's library. */
export const NODE_LIBRARY = `node:http ${process.versions.node}`;

/** Throws a `ListenError` if it cannot listen. */
export async function startNodeListener(options: ListenerOptions): Promise<Listener> {
  const shared = openListenerState(options);
  const fields = new HeaderFields(options.gateway.headersWanted);
  const connections = new WeakMap<Duplex, NodeConnection>();
  let inUse = options.tls && pairOf(options.tls);
  const server = openServer(options, inUse);
  const connectionOf = (socket: Duplex): NodeConnection => {
    let connection = connections.get(socket);
    if (connection === undefined) connections.set(socket, (connection = new NodeConnection(shared, socket, fields)));
    return connection;
  };
  const handle = (req: IncomingMessage, res: ServerResponse): void => connectionOf(req.socket).request(req, res);
  server.on('request', handle);
  // An unknown `Expect` is ignored: the request is answered like any other.
  server.on('checkExpectation', handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => connectionOf(socket).failed(error));
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => connectionOf(socket).refuseRaw('CONNECT: this is not a proxy.'));
  // Includes connections in a TLS handshake, which the library's `closeAllConnections` does not know about.
  const sockets = new Set<Duplex>();
  server.on('connection', (socket: Duplex) => {
    shared.connections = sockets.add(socket).size;
    socket.once('close', () => {
      sockets.delete(socket);
      shared.connections = sockets.size;
    });
  });
  const { host, port, exclusive = true } = options;
  await listen(server, host, port, exclusive);
  const address = { host, port: (server.address() as AddressInfo).port };
  return listenerOf(shared, NODE_LIBRARY, address, {
    // `close` of `net.Server`: that of `http.Server` also cuts idle connections, whose next request may be on its way.
    stopAccepting: () => void NetServer.prototype.close.call(server),
    renewTls(files) {
      const pair = pairOf(files);
      const changed = inUse === undefined || !samePair(pair, inUse);
      if (changed) (server as HttpsServer).setSecureContext((inUse = pair));
      return renewal(changed, pair);
    },
    cut() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
}

function openServer({ idleSeconds = IDLE_SECONDS }: ListenerOptions, tls: TlsPair | undefined): Server {
  // Announced in every answer that keeps its connection; the library itself waits a second longer.
  const options = { ...SERVER_OPTIONS, keepAliveTimeout: idleSeconds * 1000 };
  const server = tls === undefined ? createHttpServer(options) : createHttpsServer({ ...options, ...tls, handshakeTimeout: HANDSHAKE_MS });
  // The size limit is in bytes; with a limit on their number, Node would silently hide the excess fields.
  server.maxHeadersCount = 0;
  return server;
}

function listen(server: Server, host: string, port: number, exclusive: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => reject(listenError(host, port, error.code));
    server.once('error', failed);
    server.listen({ host, port, exclusive: true, reusePort: !exclusive, backlog: BACKLOG_MAX }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}
