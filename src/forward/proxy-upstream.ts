// The upstream by http-proxy-3: its agents, and one call per try. Its only importer.
import { Agent as HttpAgent } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import process from 'node:process';
import { createProxyServer } from 'http-proxy-3';
import type { Upstream } from '../ports/upstream.ts';
import { ProxyCall } from './proxy-call.ts';

/** Connections that wait for their next request, per origin. */
const FREE_CONNECTIONS_MAX = 64;

export interface ProxyUpstream extends Upstream {
  close(): void;
}

export function openProxyUpstream(): ProxyUpstream {
  // With this variable the library uses fetch, which passes on no aborts, and decodes bodies that it goes on calling encoded.
  delete process.env['FORCE_FETCH_PATH'];
  // `toProxy` leaves the target as it is; the library would resolve and escape it anew.
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const calls = new WeakMap<IncomingMessage, ProxyCall>();
  proxy.on('proxyRes', (message: IncomingMessage, request: IncomingMessage) => calls.get(request)!.answered(message));
  // Agents of our own: Node's global one may go through a proxy that the environment names. Without a bound on connections:
  // a caller who reads slowly must keep nobody waiting. What has a body has a connection of its own that ends with it: no
  // body is ever read as the next request, and none is lost to a kept connection that has just died.
  const kept = { keepAlive: true, maxFreeSockets: FREE_CONNECTIONS_MAX };
  const agents = { http: [new HttpAgent(kept), new HttpAgent()], https: [new HttpsAgent(kept), new HttpsAgent()] } as const;
  return {
    call: (request, cancellation) =>
      new Promise((resolve) => {
        const ours = agents[request.origin.startsWith('https:') ? 'https' : 'http'];
        const options = { target: request.origin, agent: ours[request.body === undefined ? 0 : 1] };
        const call = new ProxyCall(request, cancellation, resolve);
        calls.set(call.request, call);
        call.start((asRequest, asResponse) => proxy.web(asRequest, asResponse, options, (error) => call.failed(error)));
      }),
    close() {
      for (const agent of [...agents.http, ...agents.https]) agent.destroy();
    },
  };
}
