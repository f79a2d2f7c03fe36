// The configuration as the program uses it: validated, in its own names and units, with its files resolved.
import { dirname, isAbsolute, resolve } from 'node:path';
import type { RoutingRule } from '../domain/engine-routing.ts';
import { eventRules } from '../domain/event-rules.ts';
import type { EventRules } from '../domain/event-rules.ts';
import type { LanguageTable } from '../domain/languages.ts';
import type { OperatorRole } from '../domain/operator.ts';
import type { Plan } from '../domain/plan.ts';
import { toForward } from './forward.ts';
import type { ForwardConfig } from './forward.ts';
import { parseNetworkAddress } from './network-address.ts';
import type { NetworkAddress } from './network-address.ts';
import type { PluginEntry } from './plugins.ts';
import { ENGINE_ATTEMPTS } from './rules.ts';
import { enginesOf } from './engine-schema.ts';
import type { WrittenEngine } from './engine-schema.ts';
import type { ConfigFile } from './schema.ts';

export interface Config {
  /** Absolute path of the file that it was read from. */
  readonly file: string;
  readonly sources: ConfigOrigins;
  readonly listen: NetworkAddress;
  readonly ops: NetworkAddress;
  /** Names by which the ops listener may be called besides addresses and `localhost`, where it checks them. */
  readonly opsNames: readonly string[];
  /** `undefined`: no admin API and no console. Tokens are as written: a string, or where the secret is to be found. */
  readonly admin: AdminConfig | undefined;
  /** `auto`: uWebSockets.js where a binary of it loads, otherwise `node:http`. */
  readonly listener: 'auto' | 'uws' | 'node';
  /** IP addresses and CIDR ranges. */
  readonly listenTrustedProxies: readonly string[];
  /** The field in which these say where a request comes from. */
  readonly listenClientAddress: 'x-forwarded-for' | 'forwarded';
  /** Absolute paths; `undefined` without TLS. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly service: ServiceConfig;
  /** `public`: the documentation is served to callers as well. */
  readonly docs: { readonly public: boolean };
  /** May hold credentials: show it by `withoutCredentials` only. A SQLite path in it is relative to the working directory. */
  readonly store: string;
  readonly storeOptions: { readonly sqliteDurability: 'full' | 'normal'; readonly commandTimeoutMs: number; readonly waitMs: number };
  readonly auth: { readonly vendorNames: readonly string[]; readonly keyCacheMax: number };
  /** In the order of the file; at least one. */
  readonly engines: readonly EngineConfig[];
  /** Which of them a request goes to; `undefined`: all, in their order. */
  readonly routing: readonly RoutingRule[] | undefined;
  readonly limits: LimitsConfig;
  readonly plans: ReadonlyMap<string, Plan>;
  /** `undefined`: no team is a label of any metric. */
  readonly teamMetrics: TeamMetricsConfig | undefined;
  /** `days`: how long the store keeps what was used, day by day and period by period. */
  readonly history: { readonly days: number };
  /** `undefined`: nobody is told of what happens, and nothing is kept to be told. */
  readonly events: EventsConfig | undefined;
  /** Absolute path; for reading the list anew. */
  readonly languagesFile: string;
  readonly languages: LanguageTable;
  readonly forward: readonly ForwardConfig[];
  readonly plugins: readonly PluginEntry[];
}

export interface AdminConfig {
  /** Of the operator `admin`, who may change everything. */
  readonly token?: unknown;
  readonly tokens: readonly { readonly name: string; readonly token: unknown; readonly role: OperatorRole }[];
}

/** Where values come from, for people who ask themselves which gateway this is. */
export interface ConfigOrigins {
  /** Somebody has named the file; otherwise it is the one that comes with the package. */
  readonly fileNamed: boolean;
  /** `--store`, `LINGATE_STORE`, the file's name, or `the default`. */
  readonly store: string;
  /** Likewise. */
  readonly engineUrls: string;
  readonly engineProtocol: string;
  /** What is not wrong, but probably not meant: one line each. */
  readonly warnings: readonly string[];
}

/** URLs have no slash at their ends. */
export interface ServiceConfig {
  readonly name: string;
  /** Where callers reach the service; `undefined`: where it listens. */
  readonly publicUrl: string | undefined;
  /** What problem `type` URIs begin with. */
  readonly docsUrl: string;
  /** Of a product of the operator's own with sign-in and checkout: nothing speaks of it without. */
  readonly dashboardUrl: string | undefined;
}

export interface EngineConfig {
  readonly name: string;
  /** Where it stands in the file: `engine`, or `engines.NAME`. */
  readonly place: string;
  /** The name of a built-in protocol or a plugin's; whether there is one is checked later. */
  readonly protocol: string;
  /** As written in the file: the protocol's schema judges them later, and secrets are not read yet. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Without credentials, and without a slash at the end. */
  readonly urls: readonly string[];
  /** Per attempt. */
  readonly timeoutMs: number;
  /** Per replica. */
  readonly connectionsMax: number;
  /** Per replica: attempts that wait for a connection. */
  readonly queueMax: number;
  readonly responseBytesMax: number;
  /** `false`: a new connection for every call. */
  readonly keepAlive: boolean;
  /** Whether an answer with an `X-Request-Id` that is not ours is unusable. */
  readonly checkIds: boolean;
  /** Which pairs are offered; `undefined`: `ask` where the protocol's engines can tell, else `any`. */
  readonly pairs: 'any' | 'ask' | readonly string[] | undefined;
  /** `undefined`: every request is a call of its own. */
  readonly batch: BatchConfig | undefined;
}

/** What may go to the engine as one call. */
export interface BatchConfig {
  readonly textsMax: number;
  /** Code points of all texts together. */
  readonly charactersMax: number;
  /** How long the first request waits for others; 0 is to the end of the turn of the event loop. */
  readonly waitMs: number;
}

/** Which teams the metrics name, and how often all teams are looked through. */
export interface TeamMetricsConfig {
  readonly everyMs: number;
  /** At most so many of each kind: near the quota's end, low on credit, with a key long unused. */
  readonly teamsMax: number;
  /** 0 to 1. */
  readonly quotaUsedRatio: number;
  readonly creditCharacters: number;
  readonly keyUnusedMs: number;
}

export interface EventsConfig {
  /** May hold a token in its query: shown without it. */
  readonly url: string;
  /** As written: a string, or where the secret is to be found. */
  readonly secret: unknown;
  readonly rules: EventRules;
}

export interface LimitsConfig {
  readonly bodyBytes: number;
  /** How long a reservation is held before it is released by itself. */
  readonly leaseMs: number;
  /** From a request's first byte to its answer. */
  readonly requestMs: number;
  /** How long an idle connection is kept, at least. */
  readonly idleSeconds: number;
  /** How long requests in flight may go on after a signal to stop. */
  readonly drainMs: number;
  /** How long the port stays open after a signal to stop, while probes already fail. */
  readonly drainDelayMs: number;
  /** Requests under way in one process; more are turned away. */
  readonly concurrency: number;
  /** Of these, requests of one team. */
  readonly teamConcurrency: number;
  /** The share of a replica's connections that one team may hold while others are there; 0 to 1. */
  readonly teamEngineShare: number;
  /** A turn of the event loop that has taken requests for so long turns the rest away; 0 is no limit. */
  readonly shedLoopDelayMs: number;
  /** Unknown keys that are looked up for one address within a minute; 0 is no limit. */
  readonly unknownKeysPerMinute: number;
  /** Whether answers carry `RateLimit-Policy` and `RateLimit`. */
  readonly rateLimitHeaders: boolean;
  /** UTF-8 bytes of all entries of a team's glossaries. */
  readonly glossaryBytes: number;
}

/** The ops listener where it is by default: nobody outside can open it, but nothing better is known. */
const OPS_URL = 'http://127.0.0.1:9090';
/** What a request may take besides its attempts when the configuration does not say: mostly for the body to arrive. */
const BESIDES_ATTEMPTS_MS = 10_000;
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
/** What one code point may take in JSON: a control character is written as six bytes, all others take at most four. */
const JSON_BYTES_MAX = 6;

/** `file` and `languagesFile` are absolute. */
export function toConfig(raw: ConfigFile, file: string, sources: ConfigOrigins, languagesFile: string, languages: LanguageTable): Config {
  const { service, auth, limits } = raw;
  const engines = enginesOf(raw).map(({ name, place, engine }) => toEngine(name, place, engine, limits.body_bytes));
  const timeoutMs = longestTimeoutMs(engines);
  const requestMs = limits.request_seconds === undefined ? undefined : limits.request_seconds * SECOND_MS;
  return {
    file,
    sources,
    listen: parseNetworkAddress(raw.listen)!,
    ops: parseNetworkAddress(raw.ops)!,
    opsNames: raw.ops_names,
    admin: raw.admin,
    listener: raw.listener,
    listenTrustedProxies: raw.listen_trusted_proxies,
    listenClientAddress: raw.listen_client_address,
    tls: raw.tls && { certFile: besideFile(raw.tls.cert_file, file), keyFile: besideFile(raw.tls.key_file, file) },
    service: toService(service),
    docs: raw.docs,
    store: raw.store,
    storeOptions: {
      sqliteDurability: raw.store_options.sqlite_durability,
      commandTimeoutMs: raw.store_options.command_timeout_ms,
      waitMs: raw.store_options.wait_seconds * 1000,
    },
    auth: { vendorNames: auth.vendor_names, keyCacheMax: auth.key_cache_max },
    engines,
    routing: raw.routing,
    limits: {
      bodyBytes: limits.body_bytes,
      leaseMs: limits.reservation_seconds * SECOND_MS,
      requestMs: requestMs ?? ENGINE_ATTEMPTS * timeoutMs + BESIDES_ATTEMPTS_MS,
      idleSeconds: limits.idle_seconds,
      drainMs: limits.drain_seconds * SECOND_MS,
      drainDelayMs: limits.drain_delay_seconds * SECOND_MS,
      concurrency: limits.concurrency,
      teamConcurrency: limits.team_concurrency,
      teamEngineShare: limits.team_engine_share,
      shedLoopDelayMs: limits.shed_loop_delay_ms,
      unknownKeysPerMinute: limits.unknown_keys_per_minute,
      rateLimitHeaders: limits.rate_limit_headers,
      glossaryBytes: limits.glossary_bytes,
    },
    plans: new Map(Object.entries(raw.plans as Readonly<Record<string, Plan>>)),
    teamMetrics: raw.team_metrics && toTeamMetrics(raw.team_metrics),
    history: raw.history,
    events: raw.events && {
      url: raw.events.url,
      secret: raw.events.secret,
      rules: eventRules(raw.events.thresholds, raw.events.credit_minor),
    },
    languagesFile,
    languages,
    forward: raw.forward.map((entry) => toForward(entry, limits.body_bytes, timeoutMs)),
    plugins: raw.plugins.map(({ module, options }) => ({ module: moduleOf(module, file), from: file, options })),
  };
}

/** Of all engines: how long an attempt may take at most. */
export function longestTimeoutMs(engines: readonly Pick<EngineConfig, 'timeoutMs'>[]): number {
  return Math.max(...engines.map(({ timeoutMs }) => timeoutMs));
}

function toEngine(name: string, place: string, engine: WrittenEngine, bodyBytes: number): EngineConfig {
  return {
    name,
    place,
    protocol: engine.protocol,
    options: engine.options,
    urls: engine.urls.map(withoutSlash),
    timeoutMs: engine.timeout_ms,
    connectionsMax: engine.connections_max,
    queueMax: engine.queue_max,
    responseBytesMax: engine.response_bytes_max,
    keepAlive: engine.keep_alive,
    checkIds: engine.check_ids,
    pairs: engine.pairs as EngineConfig['pairs'],
    batch: engine.batch && toBatch(engine.batch, bodyBytes),
  };
}

function toService({ name, public_url, docs_url, dashboard_url }: ConfigFile['service']): ServiceConfig {
  const publicUrl = public_url && withoutSlash(public_url);
  const docsUrl = docs_url === undefined ? `${publicUrl ?? OPS_URL}/docs` : withoutSlash(docs_url);
  return { name, publicUrl, docsUrl, dashboardUrl: dashboard_url };
}

function toTeamMetrics(raw: NonNullable<ConfigFile['team_metrics']>): TeamMetricsConfig {
  return {
    everyMs: raw.every_seconds * SECOND_MS,
    teamsMax: raw.teams_max,
    quotaUsedRatio: raw.quota_used_percent / 100,
    creditCharacters: raw.credit_characters,
    keyUnusedMs: raw.key_unused_days * DAY_MS,
  };
}

function toBatch(batch: NonNullable<WrittenEngine['batch']>, bodyBytes: number): BatchConfig {
  // A batch is never larger than the largest body of one caller.
  const charactersMax = Math.min(batch.characters_max, Math.floor(bodyBytes / JSON_BYTES_MAX));
  return { textsMax: batch.texts_max, charactersMax, waitMs: batch.wait_ms };
}

/** Paths in a file are relative to the folder that the file stands in. */
export function besideFile(path: string, file: string): string {
  return resolve(dirname(file), path);
}

/** A path, when it looks like one; otherwise the name of an installed package. */
function moduleOf(module: string, file: string): string {
  const path = isAbsolute(module) || module.startsWith('.') || /\.(?:[cm]?js|[cm]?ts)$/.test(module);
  return path ? besideFile(module, file) : module;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
