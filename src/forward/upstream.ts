// The upstream of forward routes: agents, and a call per attempt. http-proxy-3's only importer.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { performance } from 'node:perf_hooks';
import type { Readable } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { Cancellation, Incoming, NodeMessages } from '../core/exchange.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
import { PooledConnections } from './pooled-connections.ts';
import { ProxyCall } from './proxy-call.ts';

/** Everything that is sent to the upstream. */
export interface UpstreamRequest {
  readonly route: Pick<ForwardRoute, 'origin' | 'body_bytes' | 'timeout_ms' | 'check_ids'>;
  readonly method: string;
  /** Path and query, as they go on the wire. */
  readonly target: string;
  /** Lower-case names. Framing and hop-by-hop fields are set by the upstream client. */
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` when there is none. */
  readonly body: Incoming | undefined;
  /** Deadline for everything, including the answer; `undefined` for none. */
  readonly totalMs: number | undefined;
  /** The caller's request, whose target and fields are replaced by these, and its response. */
  readonly messages: NodeMessages | undefined;
}

/** Why there is no answer: a fixed set of words for logs, never the upstream's own text. */
export type UpstreamFailure = 'connect' | 'reset' | 'timeout' | 'no_length' | 'foreign_id' | 'unasked' | 'cancelled' | 'internal';

/**
 * The last two are the caller's fault: a body longer than the route allows, or incomplete after
 * `totalMs` although the upstream would have taken more.
 */
export type UpstreamResult = UpstreamAnswer | UpstreamFailure | 'too_large' | 'too_slow';

export interface UpstreamAnswer {
  readonly status: number;
  /** Lower-case names; a list for a repeated field. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Length of the body; `undefined` if it is chunked. */
  readonly bytes: number | undefined;
  /** Must be read or destroyed. Fails if the upstream dies, stalls, or takes too long in all. */
  readonly body: Readable;
}

/** What forwards requests. */
export type ProxyUpstream = ReturnType<typeof openProxyUpstream>;

interface ProxyUpstreamOptions {
  /** `false` uses a new connection for every request. */
  readonly keepAlive?: boolean;
  /** Unsolicited bytes arrived; `begins` if there had been none for a minute. */
  readonly onUnasked?: (origin: string, begins: boolean) => void;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs?: () => number;
}

export function openProxyUpstream(options: ProxyUpstreamOptions = {}) {
  const { keepAlive = true, onUnasked, nowMs = () => performance.now() } = options;
  // It selects fetch, which propagates no aborts and labels decoded bodies as encoded.
  delete process.env['FORCE_FETCH_PATH'];
  // `toProxy` leaves the target unchanged; otherwise the library would resolve and escape it again.
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  /** The last attempt for each request. */
  const calls = new WeakMap<IncomingMessage, ProxyCall>();
  proxy.on('proxyReq', (upstream: ClientRequest, request: IncomingMessage) => calls.get(request)!.sending(upstream));
  proxy.on('proxyRes', (message: IncomingMessage, request: IncomingMessage) => calls.get(request)!.answered(message));
  // Our own, because Node's may use a proxy from the environment. For connections that are closed
  // after their request, such as one with a body.
  const single = { http: new HttpAgent(), https: new HttpsAgent() } as const;
  /** Origins are configured. Targets are parsed once: the library would do it for each request. */
  const origins = new Map<string, { readonly target: URL; readonly pool: PooledConnections }>();
  const originOf = (origin: string) => {
    const known = origins.get(origin);
    if (known !== undefined) return known;
    const target = new URL(origin);
    const pool = new PooledConnections(target.protocol === 'https:', nowMs, (begins) => onUnasked?.(origin, begins));
    const made = { target, pool };
    origins.set(origin, made);
    return made;
  };
  return {
    /** Never rejects. Answers after the whole request was sent, unless the status is a failure. */
    call: (request: UpstreamRequest, cancellation: Cancellation): Promise<UpstreamResult> =>
      new Promise((resolve) => {
        const { target, pool } = originOf(request.route.origin);
        const call = new ProxyCall(request, cancellation, pool, resolve);
        const ownAgent = single[target.protocol === 'https:' ? 'https' : 'http'];
        const to = { target, agent: keepAlive && request.body === undefined ? pool.agent : ownAgent };
        call.start((messages) => {
          calls.set(messages.request, call);
          proxy.web(messages.request, messages.response, to, (error) => call.failed(error));
        });
      }),
    close(): void {
      for (const agent of [single.http, single.https, ...[...origins.values()].map(({ pool }) => pool.agent)]) agent.destroy();
    },
  };
}
