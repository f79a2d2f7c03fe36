// HAProxy and nginx in front of a gateway, each on a free port, with one kept connection to it that everybody shares.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from '../../support/start-program.ts';

export interface Front {
  readonly port: number;
  stop(): Promise<void>;
}

/** Begins the value of `X-Front`, which a front sets on every request that it passes on: its own method and mark follow. */
export const STAMP = 'seen-by-the-front';

export type FrontKind = 'haproxy' | 'nginx';

const ARGS: Readonly<Record<FrontKind, (file: string, folder: string) => string[]>> = {
  haproxy: (file) => ['-db', '-f', file],
  nginx: (file, folder) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', file],
};

const CONFIG: Readonly<Record<FrontKind, (port: number, gatewayPort: number, folder: string) => string>> = {
  haproxy: (port, gatewayPort) => `
defaults
  mode http
  timeout connect 5s
  timeout client 10s
  timeout server 10s
  http-reuse always
frontend public
  bind 127.0.0.1:${port}
  http-request set-header X-Front "${STAMP} %[method] %[req.hdr(X-Case)]"
  default_backend gateway
backend gateway
  server one 127.0.0.1:${gatewayPort} pool-max-conn 1
`,
  nginx: (port, gatewayPort, folder) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 256; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  upstream gateway { server 127.0.0.1:${gatewayPort}; keepalive 1; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateway;
      proxy_http_version 1.1;
      proxy_request_buffering off;
      proxy_next_upstream off;
      proxy_set_header Connection "";
      proxy_set_header X-Front "${STAMP} $request_method $http_x_case";
    }
  }
}
`,
};

/** Resolves when it accepts connections. */
export async function startFront(kind: FrontKind, gatewayPort: number): Promise<Front> {
  const folder = await mkdtemp(join(tmpdir(), `lingate-${kind}-`));
  const file = join(folder, 'front.conf');
  const port = await freePort();
  await writeFile(file, CONFIG[kind](port, gatewayPort, folder));
  const program = await startProgram(kind, ARGS[kind](file, folder), { ready: () => accepts(port) });
  return {
    port,
    async stop() {
      program.child.kill('SIGTERM');
      await program.ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    const done = (accepted: boolean) => (): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', done(true));
    socket.once('error', done(false));
  });
}
