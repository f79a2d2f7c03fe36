// A part of the API: its routes, and the steps that they name.
import type { GatewayServices, PluginHost, PluginRoute, Step } from 'lingate';
import type { Options } from './options.ts';

/** What a part is made with, at boot. */
export interface Scene {
  readonly options: Options;
  readonly host: PluginHost;
}

export interface Part {
  readonly routes: readonly PluginRoute[];
  /** Asked for once, when store and engine are open. */
  readonly steps: (services: GatewayServices) => readonly Step[];
}

/** How every chain begins: logged, turned away under load, told by its key whose it is. */
export const AUTHENTICATED = ['access-log', 'shed', 'identify', 'authenticate', 'team-shed'] as const;
