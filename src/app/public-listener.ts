// Opens the public listener that the configuration chooses.
import type { Config } from '../config/config.ts';
import type { Gateway } from '../core/gateway.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import type { Listener, ListenerOptions } from '../server/listener.ts';

export interface ListenOptions {
  /** What problem `type` URIs begin with. */
  readonly docsUrl: string;
  readonly port: number;
  /** `false` among workers, which share the port. */
  readonly exclusive: boolean;
}

/** The public listener's address and its HTTP library. */
export interface Listening {
  readonly host: string;
  readonly port: number;
  /** With its version: `uWebSockets.js 20.57.0 (@btc-vision/uwebsockets.js)`. */
  readonly library: string;
}

/** Rejects with a `ListenError`. */
export async function startListener(config: Config, gateway: Gateway, { docsUrl, port, exclusive }: ListenOptions): Promise<Listener> {
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
  // Imported when chosen: the library's binary must not be needed where the other listener is used.
  if (config.listener === 'node') return (await import('../server/node-http.ts')).startNodeListener(options);
  return (await import('../server/uws.ts')).startUwsListener(options);
}
