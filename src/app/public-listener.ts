// Opens the gateway with its routes, ids, clock and reporting of bugs, and callers' listener.
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { callerNetwork } from '../domain/client-address.ts';
import { Gateway } from '../core/gateway.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import { Router } from '../core/router.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import { placeOf } from '../core/error-place.ts';
import type { Listener, ListenerOptions } from '../server/listener.ts';
import type { Chains } from './chain.ts';
import type { WithoutUws } from './http-library.ts';
import { whyNode } from './http-library.ts';
import { tlsOf } from './certificate.ts';
import type { GatewayParts } from './parts.ts';
import { monotonicMs as now } from './until-stopped.ts';

export function openGateway({ config, life: { log }, newId, client }: GatewayParts, { routes, around }: Chains): Gateway {
  return new Gateway({
    router: new Router(routes, around),
    around,
    newId,
    now,
    requestMs: config.limits.request_seconds * SECOND_MS,
    unfinished: {
      max: config.limits.concurrency,
      // By key and not by team, so that a revoked key takes nothing from the team's other keys.
      keyOf: (x) => x.get(keyOwnerSlot)?.keyId ?? '',
      networkOf: (x) => callerNetwork(client.of(x)),
      slowest: config.limits.slowest_bytes_per_second,
      refusal: OVERLOADED,
    },
    reportBug: (x, where, error) => log.error('a bug', { request_id: x.id, where, reason: placeOf(error) }),
  });
}

export interface ListenOptions {
  /** The base of problem `type` URIs. */
  readonly docsUrl: string;
  readonly port: number;
  /** `false` for workers, which share the port. */
  readonly exclusive: boolean;
}

/** The public listener's address and its HTTP library. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  /** With its version: `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
  readonly library: string;
  /** Why it is not uWebSockets.js, if `listener: auto` would have preferred that. */
  readonly withoutUws: WithoutUws | undefined;
}

/** Rejects with a `ListenError`. */
export async function startListener(
  config: Config,
  gateway: Gateway,
  { docsUrl, port, exclusive }: ListenOptions,
): Promise<{ readonly listener: Listener; readonly withoutUws: WithoutUws | undefined }> {
  const options: ListenerOptions = {
    gateway,
    problems: new ProblemWriter(docsUrl, config.service.name),
    host: config.listen.host,
    port,
    exclusive,
    bodyBytesMax: config.limits.body_bytes,
    idleSeconds: config.limits.idle_seconds,
    tls: tlsOf(config),
  };
  const withoutUws = config.listener === 'auto' ? await whyNode(config) : undefined;
  // Imported only when selected: the binary must not be needed if the other listener is used.
  const start =
    config.listener === 'node' || withoutUws !== undefined
      ? (await import('../server/node-http.ts')).startNodeListener
      : (await import('../server/uws.ts')).startUwsListener;
  return { listener: await start(options), withoutUws };
}
