// Which parts of a reloaded configuration apply while running, and which changes need a restart.
import { isDeepStrictEqual } from 'node:util';
import type { Config, EngineConfig } from './config.ts';
import type { FileContents } from './file-set.ts';
import { namedFiles } from './named-files.ts';

interface Reload {
  /** The configuration from now on. */
  readonly config: Config;
  /** Changed members that keep their old values, by their names in the file. */
  readonly waiting: readonly string[];
}

/**
 * Languages, the URLs and pairs of engines, routing, plans, operators, and the paths of the TLS files are applied, each as a whole;
 * everything else keeps its value.
 */
export function reloadOf(running: Config, next: Config): Reload {
  const { languages, languagesFile, plans } = next;
  const tls = running.tls && (next.tls ?? running.tls);
  const admin = adminOf(running.admin, next.admin);
  const routed = enginesOf(running, next);
  const applied = { ...running, tls, admin, languages, languagesFile, plans, engines: routed.engines, routing: routed.routing };
  const { written, files } = next.sources;
  const config = { ...applied, sources: { ...running.sources, written, files: filesOf(applied, running.sources.files, files) } };
  const waiting = Object.entries(FIXED_MEMBERS)
    .filter(([, read]) => !isDeepStrictEqual(read(running), read(next)))
    .map(([name]) => name);
  return { config, waiting: [...waiting, ...routed.waiting] };
}

/**
 * With the admin API off or on there are other pages, which are set up at startup; so is the sign-in by a provider. The name of the
 * console is one to which the ops listener answers.
 */
function adminOf(running: Config['admin'], next: Config['admin']): Config['admin'] {
  if (running === undefined || next === undefined) return running;
  const { oidc, console_url: _url, ...tokens } = next;
  const provider = running.oidc && { oidc: oidc ?? running.oidc };
  return { ...tokens, ...provider, ...(running.console_url === undefined ? {} : { console_url: running.console_url }) };
}

/** The latest contents of every file that the configuration names: what waits for a restart may name files that `next` does not. */
function filesOf(config: Config, running: FileContents, next: FileContents): FileContents {
  return new Map(
    namedFiles(config).flatMap((path) => {
      const read = [next.get(path), running.get(path)].find((found) => found !== undefined && found.kind !== 'unreadable');
      return read === undefined ? [] : [[path, read] as const];
    }),
  );
}

/** Engines are only added and removed at startup; rules that name one that is not there yet wait too. */
function enginesOf(running: Config, next: Config): Pick<Config, 'engines' | 'routing'> & Pick<Reload, 'waiting'> {
  const names = new Set(running.engines.map(({ name }) => name));
  const waiting: string[] = [];
  const taken = running.engines.map((engine) => {
    const wanted = next.engines.find(({ name }) => name === engine.name);
    if (wanted === undefined) return engine;
    for (const [member, read] of Object.entries(FIXED_ENGINE_MEMBERS)) {
      if (!isDeepStrictEqual(read(engine), read(wanted))) waiting.push(`${engine.place}.${member}`);
    }
    return { ...engine, urls: wanted.urls, pairs: wanted.pairs };
  });
  const isSame = next.engines.length === names.size && next.engines.every(({ name }) => names.has(name));
  if (!isSame) waiting.push('engines');
  const isRoutable = next.routing?.every((rule) => rule.engines.every((name) => names.has(name))) ?? isSame;
  if (!isRoutable) {
    waiting.push('routing');
    return { engines: taken, routing: running.routing, waiting };
  }
  // Without rules, their order matters.
  const engines = isSame ? next.engines.map(({ name }) => taken.find((engine) => engine.name === name)!) : taken;
  return { engines, routing: next.routing, waiting };
}

/** The members of each engine that are only read at startup. */
export const FIXED_ENGINE_MEMBERS: Readonly<Record<string, (engine: EngineConfig) => unknown>> = {
  protocol: (e) => e.protocol,
  options: (e) => e.options,
  timeout_ms: (e) => e.timeoutMs,
  connections_max: (e) => e.connectionsMax,
  queue_max: (e) => e.queueMax,
  response_bytes_max: (e) => e.responseBytesMax,
  response_bytes_factor: (e) => e.responseBytesFactor,
  keep_alive: (e) => e.keepAlive,
  check_ids: (e) => e.checkIds,
  characters: (e) => e.cap,
  batch: (e) => e.batch,
};

/** Other members that are only read at startup. */
export const FIXED_MEMBERS: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: (c) => c.listen,
  ops: (c) => c.ops,
  ops_names: (c) => c.opsNames,
  // Its tokens are reloaded; whether there are any is decided at startup.
  admin: (c) => c.admin !== undefined,
  'admin.console_url': (c) => c.admin?.console_url,
  // Its members are reloaded; whether there is a provider is decided at startup.
  'admin.oidc': (c) => c.admin?.oidc !== undefined,
  listener: (c) => c.listener,
  listen_trusted_proxies: (c) => c.listenTrustedProxies,
  listen_client_address: (c) => c.listenClientAddress,
  listen_quiet_paths: (c) => [...c.listenQuietPaths],
  // Its files are reloaded; whether there is TLS is decided at startup.
  tls: (c) => c.tls !== undefined,
  'service.name': (c) => c.service.name,
  'service.public_url': (c) => c.service.publicUrl,
  'service.docs_url': (c) => c.service.docsUrl,
  'docs.public': (c) => c.docs.public,
  'service.dashboard_url': (c) => c.service.dashboardUrl,
  store: (c) => c.store,
  'store_options.sqlite_durability': (c) => c.storeOptions.sqliteDurability,
  'store_options.command_timeout_ms': (c) => c.storeOptions.commandTimeoutMs,
  'store_options.wait_seconds': (c) => c.storeOptions.waitMs,
  'auth.vendor_names': (c) => c.auth.vendorNames,
  'auth.key_cache_max': (c) => c.auth.keyCacheMax,
  'limits.body_bytes': (c) => c.limits.bodyBytes,
  'limits.reservation_seconds': (c) => c.limits.leaseMs,
  'limits.request_seconds': (c) => c.limits.requestMs,
  'limits.idle_seconds': (c) => c.limits.idleSeconds,
  'limits.drain_seconds': (c) => c.limits.drainMs,
  'limits.drain_delay_seconds': (c) => c.limits.drainDelayMs,
  'limits.concurrency': (c) => c.limits.concurrency,
  'limits.team_concurrency': (c) => c.limits.teamConcurrency,
  'limits.team_engine_share': (c) => c.limits.teamEngineShare,
  'limits.shed_loop_delay_ms': (c) => c.limits.shedLoopDelayMs,
  'limits.unknown_keys_per_minute': (c) => c.limits.unknownKeysPerMinute,
  'limits.rate_limit_headers': (c) => c.limits.rateLimitHeaders,
  'limits.glossary_bytes': (c) => c.limits.glossaryBytes,
  'limits.tags': (c) => c.limits.tags,
  'team_metrics.every_seconds': (c) => c.teamMetrics?.everyMs,
  'team_metrics.teams_max': (c) => c.teamMetrics?.teamsMax,
  'team_metrics.quota_used_percent': (c) => c.teamMetrics?.quotaUsedRatio,
  'team_metrics.credit_characters': (c) => c.teamMetrics?.creditCharacters,
  'team_metrics.key_unused_days': (c) => c.teamMetrics?.keyUnusedMs,
  'history.days': (c) => c.history.days,
  'events.url': (c) => c.events?.url,
  'events.secret': (c) => c.events?.secret,
  'events.thresholds': (c) => c.events?.rules.percents,
  'events.credit_minor': (c) => c.events?.rules.creditMinor,
  'documents.keep': (c) => c.documents?.folder,
  'documents.secret': (c) => c.documents?.secret,
  'documents.hours': (c) => c.documents?.keepMs,
  'documents.bytes': (c) => c.documents?.bytesMax,
  'documents.store_bytes': (c) => c.documents?.storeBytesMax,
  'otel.endpoint': (c) => c.otel?.endpoint,
  'otel.headers': (c) => c.otel?.headers,
  'otel.sample': (c) => c.otel?.sample,
  'otel.follow_callers': (c) => c.otel?.followCallers,
  forward: (c) => c.forward,
  plugins: (c) => c.plugins,
};
