// HAProxy and nginx in front of a gateway, each on a free port, with one kept connection to it that all callers share.
import { startFrontProxy } from '../../support/front-proxy.ts';
import type { Front, FrontKind } from '../../support/front-proxy.ts';

/** Begins the value of `X-Front`, which a front sets on every request that it passes on: its own method and mark follow. */
export const STAMP = 'seen-by-the-front';

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

/** Like `startFrontProxy`. */
export function startFront(kind: FrontKind, gatewayPort: number): Promise<Front> {
  return startFrontProxy(kind, (port, folder) => CONFIG[kind](port, gatewayPort, folder));
}
