// Builds the API documents from the configuration, and serves them in public if it says so.
import type { Config } from '../config/config.ts';
import { formatNetworkAddress } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { withPlugins } from '../config/plugins.ts';
import { openApiDocument, pluginDocuments } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import type { PluginApis } from '../ports/plugin-route.ts';
import type { Reply, ValidatedReply } from '../core/outcome.ts';
import { IF_NONE_MATCH, unlessKnown, validated } from '../core/outcome.ts';
import type { HeadStep } from '../core/pipeline.ts';
import { documentPages } from '../ops/ops-pages.ts';
import { securityFields } from '../ops/ops-listener.ts';
import type { Documented } from './route-rows.ts';

/** Of the service with the plugins that have none, and by plugin. Opens neither store nor port. */
export function describeApis(config: Config) {
  return withPlugins(config.plugins, (apis) => {
    const options = apiOptions(config, { serverUrl: serverUrlOf(config, config.listen), docsUrl: config.service.docs_url }, apis);
    return { service: openApiDocument(options), plugins: pluginDocuments(options) };
  });
}

/** The URL that callers use: the configured one, or the listening address. */
export function serverUrlOf(config: Config, address: NetworkAddress): string {
  return config.service.public_url ?? publicUrl(config, address);
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
    serverUrl,
    docsUrl,
    sourceLanguages: config.languages.sources.map(({ code }) => code),
    targetLanguages: config.languages.targets.map(({ code }) => code),
    vendorNames: config.auth.vendor_names,
    rateLimitHeaders: config.limits.rate_limit_headers,
    dashboardUrl: config.service.dashboard_url,
    hasDocuments,
    pluginApis: {
      ...pluginApis,
      routes: pluginApis.routes.filter(({ undocumented, ofDocuments }) => undocumented !== true && (ofDocuments !== true || hasDocuments)),
    },
  };
}

/**
 * From memory: these requests need no key, so a page may cost no more than its bytes. Each is
 * rendered when first asked for, as addresses are known once everything listens.
 */
export function documentationStep(config: () => Config, documented: Documented, api: () => OpenApiOptions): HeadStep {
  const pages = documentPages(api, [...documented.documents.keys()]);
  let madeFor: Config | undefined;
  const made = new Map<string, ValidatedReply>();
  return {
    kind: 'head',
    name: 'documentation',
    headers: [IF_NONE_MATCH],
    run({ route: { path }, head: { headers } }) {
      if (madeFor !== config()) made.clear();
      madeFor = config();
      let reply = made.get(path);
      if (reply === undefined) made.set(path, (reply = validated(replyOf(pages[path]!()))));
      return unlessKnown(reply, headers[IF_NONE_MATCH]);
    },
  };
}

function replyOf({ status, contentType, body, security }: ReturnType<ReturnType<typeof documentPages>[string]>): Reply {
  return { kind: 'reply', status, contentType, body, headers: Object.entries(securityFields(security)) };
}
