// What a gateway logs when it is ready: version, store, configuration, engines, and what is valid
// but probably a mistake, which `config check` prints too.
import type { Config } from '../config/config.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { Log } from '../ports/log.ts';
import { versionOf } from './version.ts';
import type { Listening } from './public-listener.ts';
import { adviceOnCertificate } from './certificate.ts';
import { docsUrlOn } from '../config/config.ts';
import { formatNetworkAddress, isLoopback } from '../config/network-address.ts';

interface Ready {
  readonly listenUrl: string;
  readonly opsUrl: string;
  readonly listening: Listening;
  readonly workers: number;
}

const CAUSES = {
  no_binary: 'cannot be loaded',
  replaced: 'cannot be loaded',
  streams: 'does not stream',
} as const;

/** Comes after the warnings about the configuration. */
export function announceReady(log: Log, config: Config, { listenUrl, opsUrl, listening, workers }: Ready): void {
  const { sources } = config;
  for (const reason of sources.warnings) log.warn('the environment has variables that mean nothing', { reason });
  for (const reason of adviceOn(config)) log.warn('the configuration is valid, but probably not what is intended', { reason });
  if (listening.withoutUws !== undefined) {
    const { cause, why } = listening.withoutUws;
    log[cause === 'replaced' ? 'warn' : 'info'](`listener: auto is node:http, because uWebSockets.js ${CAUSES[cause]}`, { reason: why });
  }
  log.info(`lingate is ready on ${listenUrl}, ops on ${opsUrl}`, {
    version: versionOf(),
    store: withoutCredentials(config.store),
    store_from: sources.store,
    config: config.file,
    engines: engineUrls(config),
    engines_from: sources.engineUrls,
    listener: listening.library,
    workers,
  });
}

/** With several engines, each URL is preceded by its engine's name. */
export function engineUrls({ engines }: Pick<Config, 'engines'>): readonly string[] {
  if (engines.length === 1) return engines[0]!.urls;
  return engines.flatMap(({ name, urls }) => urls.map((url) => `${name}: ${url}`));
}

/** One line each, with the member to change. The environment's are in `sources.warnings`. */
export function adviceOn(config: Config): readonly string[] {
  const certificate = adviceOnCertificate(config);
  return [...adviceOnDocs(config), ...adviceOnSignIn(config), ...(certificate === undefined ? [] : [certificate])];
}

function adviceOnSignIn({ admin }: Config): readonly string[] {
  if (admin?.oidc === undefined || admin.token !== undefined || admin.tokens.length > 0) return [];
  return [
    'admin: has no token beside oidc: nobody can sign in while the provider is away, and the admin API takes tokens only; give it a token',
  ];
}

function adviceOnDocs({ listen, ops, service: { public_url: publicUrl, docs_url: docsUrl } }: Config): readonly string[] {
  const docsHost = new URL(docsUrl).hostname.replace(/^\[|\]$/g, '');
  const isOnlyHere = isLoopback(docsHost);
  const isOnOps = publicUrl === undefined && docsUrl === docsUrlOn(ops);
  if (isLoopback(listen.host) || !(isOnlyHere || isOnOps)) return [];
  const [member, change] =
    publicUrl === undefined
      ? ['service.public_url: is not set', 'set it to the URL that callers use']
      : [`service.docs_url: is ${docsUrl}`, 'leave it out, so that it is below service.public_url'];
  return [
    `${member}, but ${formatNetworkAddress(listen)} can be reached from other machines: the "type" of every error points to ${docsUrl}, which ${isOnlyHere ? 'only this machine can open' : 'is the ops listener, not for callers'}; ${change}`,
  ];
}
