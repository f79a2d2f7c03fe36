// The upstream of forward routes: agents, and a call per attempt. http-proxy-3's only importer.
import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { Cancellation, Incoming, NodeMessages } from '../core/exchange.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
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
export type UpstreamFailure = 'connect' | 'reset' | 'timeout' | 'no_length' | 'foreign_id' | 'cancelled' | 'internal';

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

export function openProxyUpstream() {
  // It selects fetch, which propagates no aborts and labels decoded bodies as encoded.
  delete process.env['FORCE_FETCH_PATH'];
  // `toProxy` leaves the target unchanged; otherwise the library would resolve and escape it again.
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  /** The last attempt for each request. */
  const calls = new WeakMap<IncomingMessage, ProxyCall>();
  proxy.on('proxyReq', (upstream: ClientRequest, request: IncomingMessage) => calls.get(request)!.sending(upstream));
  proxy.on('proxyRes', (message: IncomingMessage, request: IncomingMessage) => calls.get(request)!.answered(message));
  // Our own, because Node's may use a proxy from the environment. Each call has a connection of its own: on a shared one, a late or
  // second answer, or the rest of a body that a server has not read, would become another caller's.
  const agents = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() } as const;
  /** Origins are configured. They are parsed once: the library would do it for each request. */
  const targets = new Map<string, URL>();
  return {
    /** Never rejects. Answers after the whole request was sent, unless the status is a failure. */
    call: (request: UpstreamRequest, cancellation: Cancellation): Promise<UpstreamResult> =>
      new Promise((resolve) => {
        const { origin } = request.route;
        const target = targets.get(origin) ?? new URL(origin);
        targets.set(origin, target);
        const call = new ProxyCall(request, cancellation, resolve);
        call.start((messages) => {
          calls.set(messages.request, call);
          const agent = agents[target.protocol as keyof typeof agents];
          proxy.web(messages.request, messages.response, { target, agent }, (error) => call.failed(error));
        });
      }),
    close(): void {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}
