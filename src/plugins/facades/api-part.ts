// A part of another API: its routes, and the steps that they name.
import type { GatewayServices, PluginHost, PluginRoute, Step } from 'lingate';

/** What a part is made with, at boot. */
export interface PartSetup<Options> {
  readonly options: Options;
  readonly host: PluginHost;
}

export interface ApiPart {
  readonly routes: readonly PluginRoute[];
  /** Asked for once, when store and engine are open. */
  readonly steps: (services: GatewayServices) => readonly Step[];
}
