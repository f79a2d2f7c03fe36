// A part of the API: its route, and the steps that it names.
import type { GatewayServices, PluginHost, PluginRoute, Step } from 'lingate';
import type { Options } from './options.ts';

/** What a part is made with, at boot. */
export interface Scene {
  readonly options: Options;
  readonly host: PluginHost;
}

export interface Part {
  readonly route: PluginRoute;
  /** Asked for once, when store and engine are open. */
  readonly steps: (services: GatewayServices) => readonly Step[];
}
