// The upstream based on http-proxy-3: its agents, and one call per attempt. The only importer of that package.
import { Agent as HttpAgent } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { performance } from 'node:perf_hooks';
import { createProxyServer } from 'http-proxy-3';
import type { Upstream } from '../ports/upstream.ts';
import { KeptConnections } from './kept-connections.ts';
import { ProxyCall } from './proxy-call.ts';

export interface ProxyUpstream extends Upstream {
  close(): void;
}

export interface ProxyUpstreamOptions {
  /** `false` uses a new connection for every request. */
  readonly keepAlive?: boolean;
  /** Unsolicited bytes arrived; `begins` if there had been none for a minute. */
  readonly onUnasked?: (origin: string, begins: boolean) => void;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
}

export function openProxyUpstream(options: ProxyUpstreamOptions = {}): ProxyUpstream {
  const { keepAlive = true, onUnasked, nowMs = () => performance.now() } = options;
  // With this variable the library uses fetch, which does not propagate aborts, and decodes bodies but still labels them as
  // encoded.
  delete process.env['FORCE_FETCH_PATH'];
  // `toProxy` leaves the target unchanged; otherwise the library would resolve and escape it again.
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  const calls = new WeakMap<IncomingMessage, ProxyCall>();
  proxy.on('proxyRes', (message: IncomingMessage, request: IncomingMessage) => calls.get(request)!.answered(message));
  // Our own agents, because Node's global one may use a proxy from the environment. These are for connections that are closed
  // after their request.
  const single = { http: new HttpAgent(), https: new HttpsAgent() } as const;
  /** By origin; origins come from the configuration. */
  const kept = new Map<string, KeptConnections>();
  /** Parsed once: the library would do it for each request. */
  const targets = new Map<string, URL>();
  const targetOf = (origin: string): URL => {
    let target = targets.get(origin);
    if (target === undefined) targets.set(origin, (target = new URL(origin)));
    return target;
  };
  const keptFor = (origin: string, secure: boolean): KeptConnections => {
    let connections = kept.get(origin);
    if (connections === undefined) {
      connections = new KeptConnections(secure, nowMs, (begins) => onUnasked?.(origin, begins));
      kept.set(origin, connections);
    }
    return connections;
  };
  return {
    call: (request, cancellation) =>
      new Promise((resolve) => {
        const secure = request.origin.startsWith('https:');
        const connections = keptFor(request.origin, secure);
        const agent = keepAlive ? (request.body === undefined ? connections.agent : connections.agentForBody) : undefined;
        const call = new ProxyCall(request, cancellation, connections, resolve);
        calls.set(call.request, call);
        const to = { target: targetOf(request.origin), agent: agent ?? single[secure ? 'https' : 'http'] };
        call.start((asRequest, asResponse) => proxy.web(asRequest, asResponse, to, (error) => call.failed(error)));
      }),
    close() {
      for (const agent of [single.http, single.https, ...[...kept.values()].map((connections) => connections.agent)]) agent.destroy();
    },
  };
}
