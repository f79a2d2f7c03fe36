// The upstream of forward routes: agents, and a call per attempt. http-proxy-3's only importer.
import { Agent as HttpAgent } from 'node:http';
import type { AgentOptions, ClientRequest, IncomingMessage } from 'node:http';
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

/** The last attempt for a request. In a `WeakMap`, requests would stay in memory until V8's next full collection. */
const CALL = Symbol('call');
interface Forwarded extends IncomingMessage {
  [CALL]?: ProxyCall;
}

/** What is known of a target. Its URL is parsed once: the library would do it for each request. */
interface ForwardTarget {
  readonly url: URL;
  /** Whether each answer so far had the id of its request. */
  repeatsIds: boolean | undefined;
}

/** A connection is closed after so long: a request with a body is sent once, and must not meet one that its server is about to close. */
const REST_MS = 1000;

/** `keepAlive: false` opens a connection for each request. */
export function openProxyUpstream({ keepAlive }: { readonly keepAlive: boolean }) {
  // It selects fetch, which propagates no aborts and labels decoded bodies as encoded.
  delete process.env['FORCE_FETCH_PATH'];
  // `toProxy` leaves the target unchanged; otherwise the library would resolve and escape it again.
  const proxy = createProxyServer({ selfHandleResponse: true, toProxy: true });
  proxy.on('proxyReq', (upstream: ClientRequest, request: Forwarded) => request[CALL]!.sending(upstream));
  proxy.on('proxyRes', (message: IncomingMessage, request: Forwarded) => request[CALL]!.answered(message));
  // Our own, because Node's may use a proxy from the environment.
  const agentsOf = (options: AgentOptions) => ({ 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) }) as const;
  const [single, shared] = [agentsOf({}), agentsOf({ keepAlive: true, timeout: REST_MS })];
  const targets = new Map<string, ForwardTarget>();
  const targetOf = (origin: string): ForwardTarget => {
    const target = targets.get(origin) ?? { url: new URL(origin), repeatsIds: undefined };
    targets.set(origin, target);
    return target;
  };
  return {
    /** Never rejects. Answers after the whole request was sent, unless the status is a failure. */
    call: (request: UpstreamRequest, cancellation: Cancellation): Promise<UpstreamResult> =>
      new Promise((resolve) => {
        const target = targetOf(request.route.origin);
        // A server that once leaves an id out may do so again.
        const onAnswer = (hasOurId: boolean): void => {
          target.repeatsIds = hasOurId && target.repeatsIds !== false;
        };
        // On a connection that is used again, an overdue or second answer, or one to the rest of a body that the server has not read, would
        // be another caller's, if ids did not show whose it is.
        const isShared = keepAlive && request.route.check_ids && target.repeatsIds === true;
        const agent = (isShared ? shared : single)[target.url.protocol as keyof typeof single];
        const call = new ProxyCall(request, cancellation, onAnswer, resolve);
        call.start((messages) => {
          (messages.request as Forwarded)[CALL] = call;
          proxy.web(messages.request, messages.response, { target: target.url, agent }, (error) => call.failed(error));
        });
      }),
    close(): void {
      for (const agent of [...Object.values(single), ...Object.values(shared)]) agent.destroy();
    },
  };
}
