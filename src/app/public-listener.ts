// Opens the configured public listener.
import type { Config } from '../config/config.ts';
import type { Gateway } from '../core/gateway.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import type { Listener, ListenerOptions } from '../server/listener.ts';
import { whyWithoutUws } from './http-library.ts';
import type { WithoutUws } from './http-library.ts';

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

export interface StartedListener {
  readonly listener: Listener;
  readonly withoutUws: WithoutUws | undefined;
}

/** Rejects with a `ListenError`. */
export async function startListener(
  config: Config,
  gateway: Gateway,
  { docsUrl, port, exclusive }: ListenOptions,
): Promise<StartedListener> {
  const options: ListenerOptions = {
    gateway,
    problems: new ProblemWriter({ docsUrl, realm: config.service.name }),
    host: config.listen.host,
    port,
    exclusive,
    bodyBytesMax: config.limits.bodyBytes,
    idleSeconds: config.limits.idleSeconds,
    ...(config.tls === undefined ? {} : { tls: config.tls }),
  };
  const withoutUws = config.listener === 'auto' ? await whyWithoutUws() : undefined;
  // Imported only when selected: the binary must not be needed if the other listener is used.
  const start =
    config.listener === 'node' || withoutUws !== undefined
      ? (await import('../server/node-http.ts')).startNodeListener
      : (await import('../server/uws.ts')).startUwsListener;
  return { listener: await start(options), withoutUws: withoutUws && { why: withoutUws.why, replaced: withoutUws.replaced } };
}
