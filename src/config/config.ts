// The configuration as the program uses it: validated, with our own names and units, and with paths resolved.
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
  /** Names, besides addresses and `localhost`, to which the ops listener answers, if it checks them. */
  readonly opsNames: readonly string[];
  /** `undefined`: no admin API and no console. Tokens are as written: a string, or a reference to the secret. */
  readonly admin: AdminConfig | undefined;
  /** `auto`: uWebSockets.js if a binary of it loads, otherwise `node:http`. */
  readonly listener: 'auto' | 'uws' | 'node';
  /** IP addresses and CIDR ranges. */
  readonly listenTrustedProxies: readonly string[];
  /** The header in which these proxies name the client. */
  readonly listenClientAddress: 'x-forwarded-for' | 'forwarded';
  /** Absolute paths; `undefined` without TLS. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined;
  readonly service: ServiceConfig;
  /** `public`: callers may read the documentation too. */
  readonly docs: { readonly public: boolean };
  /** May contain credentials: print it only with `withoutCredentials`. A SQLite path in it is relative to the working directory. */
  readonly store: string;
  readonly storeOptions: { readonly sqliteDurability: 'full' | 'normal'; readonly commandTimeoutMs: number; readonly waitMs: number };
  readonly auth: { readonly vendorNames: readonly string[]; readonly keyCacheMax: number };
  /** In the order of the file; at least one. */
  readonly engines: readonly EngineConfig[];
  /** The rules; `undefined`: all engines, in their order. */
  readonly routing: readonly RoutingRule[] | undefined;
  readonly limits: LimitsConfig;
  readonly plans: ReadonlyMap<string, Plan>;
  /** `undefined`: metrics do not identify teams. */
  readonly teamMetrics: TeamMetricsConfig | undefined;
  /** `days`: how long the store keeps usage by day and period. */
  readonly history: { readonly days: number };
  /** `undefined`: no events are stored or sent. */
  readonly events: EventsConfig | undefined;
  /** Absolute path, for reloading the list. */
  readonly languagesFile: string;
  readonly languages: LanguageTable;
  readonly forward: readonly ForwardConfig[];
  readonly plugins: readonly PluginEntry[];
}

export interface AdminConfig {
  /** For the operator `admin`, who may change everything. */
  readonly token?: unknown;
  readonly tokens: readonly { readonly name: string; readonly token: unknown; readonly role: OperatorRole }[];
}

/** Where values come from, for the question which gateway this is. */
export interface ConfigOrigins {
  /** Whether someone has named the file; otherwise it is the one in the package. */
  readonly fileNamed: boolean;
  /** `--store`, `LINGATE_STORE`, the file's name, or `the default`. */
  readonly store: string;
  /** The same for the engines' URLs. */
  readonly engineUrls: string;
  readonly engineProtocol: string;
  /** What is valid but probably a mistake: one line each. */
  readonly warnings: readonly string[];
}

/** URLs do not end with a slash. */
export interface ServiceConfig {
  readonly name: string;
  /** The URL that callers use; `undefined`: the listening address. */
  readonly publicUrl: string | undefined;
  /** The base of problem `type` URIs. */
  readonly docsUrl: string;
  /** The operator's own product with sign-in and checkout; without it nothing mentions one. */
  readonly dashboardUrl: string | undefined;
}

export interface EngineConfig {
  readonly name: string;
  /** Its place in the file: `engine`, or `engines.NAME`. */
  readonly place: string;
  /** The name of a built-in protocol or a plugin's; whether it exists is checked later. */
  readonly protocol: string;
  /** As written in the file: checked later by the protocol's schema; secrets are not read yet. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Without credentials, and without a slash at the end. */
  readonly urls: readonly string[];
  /** Per attempt. */
  readonly timeoutMs: number;
  /** Per replica. */
  readonly connectionsMax: number;
  /** Per replica: attempts that may wait for a connection. */
  readonly queueMax: number;
  readonly responseBytesMax: number;
  /** `false`: a new connection for every call. */
  readonly keepAlive: boolean;
  /** Whether an answer with the `X-Request-Id` of another request is unusable. */
  readonly checkIds: boolean;
  /** Which pairs are offered; `undefined`: `ask` if the protocol's engines can report them, otherwise `any`. */
  readonly pairs: 'any' | 'ask' | readonly string[] | undefined;
  /** `undefined`: every request is a separate call. */
  readonly batch: BatchConfig | undefined;
}

/** Limits of one call to the engine. */
export interface BatchConfig {
  readonly textsMax: number;
  /** Code points of all texts together. */
  readonly charactersMax: number;
  /** How long the first request waits for others; 0: until the end of the tick. */
  readonly waitMs: number;
}

/** Which teams the metrics identify, and how often all teams are checked. */
export interface TeamMetricsConfig {
  readonly everyMs: number;
  /** At most this many of each kind: near the end of the quota, low on credit, with a key unused for long. */
  readonly teamsMax: number;
  /** 0 to 1. */
  readonly quotaUsedRatio: number;
  readonly creditCharacters: number;
  readonly keyUnusedMs: number;
}

export interface EventsConfig {
  /** May contain a token in its query: print it without the query. */
  readonly url: string;
  /** As written: a string, or a reference to the secret. */
  readonly secret: unknown;
  readonly rules: EventRules;
}

export interface LimitsConfig {
  readonly bodyBytes: number;
  /** How long a reservation is held before it expires. */
  readonly leaseMs: number;
  /** From a request's first byte to its answer. */
  readonly requestMs: number;
  /** The least time for which an idle connection is kept. */
  readonly idleSeconds: number;
  /** How long requests in flight may continue after a signal to stop. */
  readonly drainMs: number;
  /** How long the port stays open after a signal to stop, while probes already fail. */
  readonly drainDelayMs: number;
  /** Requests in flight in one process; any more are refused. */
  readonly concurrency: number;
  /** Of these, requests of one team. */
  readonly teamConcurrency: number;
  /** The share of a replica's connections that one team may use while others are active; 0 to 1. */
  readonly teamEngineShare: number;
  /** A tick of the event loop that has been accepting requests for this long refuses the rest; 0 is no limit. */
  readonly shedLoopDelayMs: number;
  /** Unknown keys that are looked up for one address within a minute; 0 is no limit. */
  readonly unknownKeysPerMinute: number;
  /** Whether answers have `RateLimit-Policy` and `RateLimit`. */
  readonly rateLimitHeaders: boolean;
  /** UTF-8 bytes of all entries of a team's glossaries. */
  readonly glossaryBytes: number;
}

/** The default address of the ops listener: callers cannot open it, but nothing better is known. */
const OPS_URL = 'http://127.0.0.1:9090';
/** A request's time besides its attempts, if not configured: mostly for the body to arrive. */
const BESIDES_ATTEMPTS_MS = 10_000;
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
/** The most bytes of one code point in JSON: a control character is written as six bytes, all others as at most four. */
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

/** Over all engines: the longest duration of an attempt. */
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

/** Paths in a file are relative to the folder of the file. */
export function besideFile(path: string, file: string): string {
  return resolve(dirname(file), path);
}

/** A path, if it looks like one; otherwise the name of an installed package. */
function moduleOf(module: string, file: string): string {
  const path = isAbsolute(module) || module.startsWith('.') || /\.(?:[cm]?js|[cm]?ts)$/.test(module);
  return path ? besideFile(module, file) : module;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
