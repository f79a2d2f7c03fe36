// What a configuration that was read anew may change while we run, and which of its changes have to wait for a restart.
import { isDeepStrictEqual } from 'node:util';
import type { Config } from './config.ts';

export interface Reload {
  /** The configuration from now on. */
  readonly config: Config;
  /** Members that differ and stay as they were, by their names in the file. */
  readonly waiting: readonly string[];
}

/** Languages, engine replicas and pairs, plans, operators, and where the TLS files are, are taken over, each as a whole; all else stays. */
export function reloadOf(running: Config, next: Config): Reload {
  const { languages, languagesFile, plans } = next;
  const { urls, pairs } = next.engine;
  const tls = running.tls && (next.tls ?? running.tls);
  // With the admin API off or on there are other pages, which are settled at the start.
  const admin = running.admin && (next.admin ?? running.admin);
  const config = { ...running, tls, admin, languages, languagesFile, plans, engine: { ...running.engine, urls, pairs } };
  const waiting = Object.entries(FIXED_MEMBERS)
    .filter(([, read]) => !isDeepStrictEqual(read(running), read(next)))
    .map(([name]) => name);
  return { config, waiting };
}

/** Members that are read once, at the start. */
export const FIXED_MEMBERS: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: (c) => c.listen,
  ops: (c) => c.ops,
  ops_names: (c) => c.opsNames,
  // Its tokens are read anew; that there are any is settled at the start.
  admin: (c) => c.admin !== undefined,
  listener: (c) => c.listener,
  listen_trusted_proxies: (c) => c.listenTrustedProxies,
  listen_client_address: (c) => c.listenClientAddress,
  // Its files are read anew; that there is TLS at all is settled at the start.
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
  'engine.protocol': (c) => c.engine.protocol,
  'engine.options': (c) => c.engine.options,
  'engine.timeout_ms': (c) => c.engine.timeoutMs,
  'engine.connections_max': (c) => c.engine.connectionsMax,
  'engine.queue_max': (c) => c.engine.queueMax,
  'engine.response_bytes_max': (c) => c.engine.responseBytesMax,
  'engine.keep_alive': (c) => c.engine.keepAlive,
  'engine.check_ids': (c) => c.engine.checkIds,
  'engine.batch': (c) => c.engine.batch,
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
  forward: (c) => c.forward,
  plugins: (c) => c.plugins,
};
