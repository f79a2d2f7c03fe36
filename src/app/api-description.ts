// Builds a gateway's API documents from its configuration.
import type { Config } from '../config/config.ts';
import { formatNetworkAddress } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { withPlugins } from '../config/plugins.ts';
import { openApiDocument, pluginDocuments } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import type { PluginApis } from '../ports/plugin-route.ts';

/** The version in every path. */
const API_VERSION = '1';

/** All OpenAPI documents of a gateway with this configuration. */
export interface ApiDescriptions {
  /** Of the service, including routes of plugins without their own document. */
  readonly service: Record<string, unknown>;
  /** By the plugin's name. */
  readonly plugins: ReadonlyMap<string, Record<string, unknown>>;
}

/** Opens neither the store nor a port. */
export function describeApis(config: Config): Promise<ApiDescriptions> {
  return withPlugins(config.plugins, (apis) => ({
    service: openApiDocument(describedBy(config, apis)),
    plugins: pluginDocuments(describedBy(config, apis)),
  }));
}

function describedBy(config: Config, pluginApis: PluginApis): OpenApiOptions {
  return apiOptions(config, { serverUrl: serverUrlOf(config, config.listen), docsUrl: config.service.docsUrl }, pluginApis);
}

/** The URL that callers use: the configured one, or the listening address. */
export function serverUrlOf(config: Config, address: NetworkAddress): string {
  return config.service.publicUrl ?? publicUrl(config, address);
}

/** The listening address. */
export function publicUrl(config: Config, address: NetworkAddress): string {
  return `${config.tls === undefined ? 'http' : 'https'}://${formatNetworkAddress(address)}`;
}

export function apiOptions(
  config: Config,
  { serverUrl, docsUrl }: { readonly serverUrl: string; readonly docsUrl: string },
  pluginApis: PluginApis,
): OpenApiOptions {
  const hasDocuments = config.documents !== undefined;
  return {
    serviceName: config.service.name,
    version: API_VERSION,
    serverUrl,
    docsUrl,
    sourceLanguages: config.languages.sources.map(({ code }) => code),
    targetLanguages: config.languages.targets.map(({ code }) => code),
    vendorNames: config.auth.vendorNames,
    rateLimitHeaders: config.limits.rateLimitHeaders,
    dashboardUrl: config.service.dashboardUrl,
    hasDocuments,
    hasConsole: config.admin !== undefined,
    pluginApis: {
      ...pluginApis,
      routes: pluginApis.routes.filter(({ undocumented, ofDocuments }) => undocumented !== true && (ofDocuments !== true || hasDocuments)),
    },
  };
}
