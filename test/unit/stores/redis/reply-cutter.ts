// A TCP proxy that can swallow a server's replies and cut the connection, so that a request has run but its outcome is unknown.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

interface ReplyCutter {
  readonly port: number;
  /** The next reply of any connection is dropped, and its connection with it. */
  cutNextReply(): void;
  close(): Promise<void>;
}

export async function replyCutter(serverPort: number): Promise<ReplyCutter> {
  let armed = false;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    client.pipe(server);
    server.on('data', (reply) => {
      if (!armed) return void client.write(reply);
      armed = false;
      cut();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    cutNextReply: () => {
      armed = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
