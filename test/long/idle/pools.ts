// HAProxy and nginx with one pool of kept connections per path, so that every pause between requests has its own connection.
import { startFrontProxy } from '../../support/front-proxy.ts';
import type { Front, FrontKind } from '../../support/front-proxy.ts';

/** A front's settings for gateways that keep idle connections this long: from the manual's table. */
interface Settings {
  readonly nginx: string;
  readonly haproxy: string;
}

/** By `limits.idle_seconds`: for 8, they close first; for 75, their defaults apply. */
const SETTINGS: Readonly<Record<number, Settings>> = {
  8: { nginx: 'keepalive_timeout 5s;', haproxy: 'pool-purge-delay 2s' },
  75: { nginx: '', haproxy: '' },
};

type ConfigOf = (pools: number, port: number, gatewayPort: number, folder: string, settings: Settings) => string;

const CONFIG: Readonly<Record<FrontKind, ConfigOf>> = {
  haproxy: (pools, port, gatewayPort, _folder, { haproxy }) => `
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend public
  bind 127.0.0.1:${port}
  use_backend %[path,field(2,/)]
${each(pools, (pool) => `backend p${pool}\n  http-request replace-path ^/p${pool}(/.*) \\1\n  server one 127.0.0.1:${gatewayPort} ${haproxy}`)}
`,
  nginx: (pools, port, gatewayPort, folder, { nginx }) => `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
${each(pools, (pool) => `  upstream p${pool} { server 127.0.0.1:${gatewayPort}; keepalive 4; ${nginx} }`)}
  server {
    listen 127.0.0.1:${port};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
${each(pools, (pool) => `    location /p${pool}/ { proxy_pass http://p${pool}/; }`)}
  }
}
`,
};

function each(pools: number, lines: (pool: number) => string): string {
  return Array.from({ length: pools }, (_, pool) => lines(pool)).join('\n');
}

/** `/p7/v1/usage` goes to the gateway's `/v1/usage` over a connection of pool 7. */
export function startPools(kind: FrontKind, pools: number, gatewayPort: number, idleSeconds: number): Promise<Front> {
  return startFrontProxy(kind, (port, folder) => CONFIG[kind](pools, port, gatewayPort, folder, SETTINGS[idleSeconds]!));
}
