// The configuration as the program uses it: validated, with our own names and units, and with paths resolved.
import { dirname, isAbsolute, resolve } from 'node:path';
import type { EngineCap } from '../ports/engine-use.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import { eventRules } from '../domain/event-rules.ts';
import type { LanguageTable } from '../domain/languages.ts';
import { DAY_MS } from '../domain/period.ts';
import type { Plan } from '../domain/plan.ts';
import type { FileContents } from './file-set.ts';
import { toForward } from './forward.ts';
import { parseNetworkAddress, reachedAt } from './network-address.ts';
import type { NetworkAddress } from './network-address.ts';
import { toDocuments } from './documents-section.ts';
import { toOtel } from './otel-section.ts';
import type { PluginEntry } from './plugins.ts';
import { ENGINE_ATTEMPTS } from './rules.ts';
import { enginesOf } from './engine-schema.ts';
import type { WrittenEngine } from './engine-schema.ts';
import type { ConfigFile } from './schema.ts';

export type Config = Readonly<ReturnType<typeof toConfig>>;

export type EngineConfig = Readonly<ReturnType<typeof toEngine>>;

/** Where values come from, for the question which gateway this is. */
interface ConfigOrigins {
  /** `--store`, `LINGATE_STORE`, the file's name, or `the default`. */
  readonly store: string;
  /** The same for the engines' URLs. */
  readonly engineUrls: string;
  readonly engineProtocol: string;
  /** What is valid but probably a mistake: one line each. */
  readonly warnings: readonly string[];
  /** The sections that the file has, and `engine.urls`. */
  readonly written: readonly string[];
  /** The configuration's file and those that it names, as they were read. Nothing reads them again, also in a worker that starts later. */
  readonly files: FileContents;
}

/** Stands for a free port of the ops listener, which is only known when it listens. */
const OPS_PORT = 9090;
/** A request's time besides its attempts, if not configured: mostly for the body to arrive. */
const BESIDES_ATTEMPTS_MS = 10_000;
const SECOND_MS = 1000;
/** The most bytes of one code point in JSON: a control character is written as six bytes, all others as at most four. */
const JSON_BYTES_MAX = 6;

/** In `ConfigOrigins.written`: without them there is a default address, which would get the texts of callers. */
export const ENGINE_URLS = 'engine.urls';

/** `languagesFile` is an absolute path. */
export function toConfig(raw: ConfigFile, file: string, sources: ConfigOrigins, languagesFile: string, languages: LanguageTable) {
  const { auth, limits, store_options: storeOptions } = raw;
  const engines: readonly EngineConfig[] = enginesOf(raw).map(({ name, place, engine }) =>
    toEngine(name, place, engine, limits.body_bytes),
  );
  const timeoutMs = longestTimeoutMs(engines);
  return {
    /** The members as written, with defaults, variables and flags. */
    raw,
    /** Absolute path of the file that it was read from. */
    file,
    sources,
    listen: parseNetworkAddress(raw.listen)!,
    ops: parseNetworkAddress(raw.ops)!,
    /** Names, besides addresses and `localhost`, to which the ops listener answers, if it checks them. */
    opsNames: raw.ops_names as readonly string[],
    /** `undefined`: no admin API and no console. Tokens are as written: a string, or a reference to the secret. */
    admin: raw.admin,
    /** `auto`: uWebSockets.js if a binary of it loads, otherwise `node:http`. */
    listener: raw.listener,
    /** IP addresses and CIDR ranges. */
    listenTrustedProxies: raw.listen_trusted_proxies as readonly string[],
    /** The header in which these proxies name the client. */
    listenClientAddress: raw.listen_client_address,
    /** Paths of probes, which have no line in the log. */
    listenQuietPaths: new Set(raw.listen_quiet_paths as readonly string[]) as ReadonlySet<string>,
    /** Absolute paths; `undefined` without TLS. */
    tls: raw.tls && { certFile: besideFile(raw.tls.cert_file, file), keyFile: besideFile(raw.tls.key_file, file) },
    service: toService(raw.service, parseNetworkAddress(raw.ops)!),
    /** `public`: callers may read the documentation too. */
    docs: raw.docs,
    /** May contain credentials: print it only with `withoutCredentials`. A SQLite path in it is relative to the working directory. */
    store: raw.store,
    storeOptions: {
      sqliteDurability: storeOptions.sqlite_durability,
      commandTimeoutMs: storeOptions.command_timeout_ms,
      waitMs: storeOptions.wait_seconds * SECOND_MS,
    },
    auth: { vendorNames: auth.vendor_names as readonly string[], keyCacheMax: auth.key_cache_max },
    /** In the order of the file; at least one. */
    engines,
    /** The rules; `undefined`: all engines, in their order. */
    routing: raw.routing as readonly RoutingRule[] | undefined,
    limits: toLimits(limits, timeoutMs),
    plans: new Map(Object.entries(raw.plans as Readonly<Record<string, Plan>>)) as ReadonlyMap<string, Plan>,
    /** `undefined`: metrics do not identify teams. */
    teamMetrics: raw.team_metrics && toTeamMetrics(raw.team_metrics),
    /** `days`: how long the store keeps usage by day and period. */
    history: raw.history,
    /** `undefined`: no events are stored or sent. */
    events: raw.events && {
      /** May contain a token in its query: print it without the query. */
      url: raw.events.url,
      /** As written: a string, or a reference to the secret. */
      secret: raw.events.secret,
      rules: eventRules(raw.events.thresholds, raw.events.credit_minor),
    },
    /** `undefined`: no documents are translated. */
    documents: raw.documents && toDocuments(raw.documents, (path) => besideFile(path, file)),
    /** `undefined`: nothing is traced. Headers are as written: strings, or references to secrets. */
    otel: raw.otel && toOtel(raw.otel),
    /** Absolute path, for reloading the list. */
    languagesFile,
    languages,
    forward: raw.forward.map((entry) => toForward(entry, limits.body_bytes, timeoutMs)),
    plugins: raw.plugins.map(({ module, options }): PluginEntry => ({ module: moduleOf(module, file), from: file, options })),
  };
}

/** Over all engines: the longest duration of an attempt. */
export function longestTimeoutMs(engines: readonly Pick<EngineConfig, 'timeoutMs'>[]): number {
  return Math.max(...engines.map(({ timeoutMs }) => timeoutMs));
}

function toEngine(name: string, place: string, engine: WrittenEngine, bodyBytes: number) {
  return {
    name,
    /** Its place in the file: `engine`, or `engines.NAME`. */
    place,
    /** The name of a built-in protocol or a plugin's; whether it exists is checked later. */
    protocol: engine.protocol,
    /** As written in the file: checked later by the protocol's schema; secrets are not read yet. */
    options: engine.options as Readonly<Record<string, unknown>>,
    /** Without credentials, and without a slash at the end. */
    urls: engine.urls.map(withoutSlash) as readonly string[],
    /** Per attempt. */
    timeoutMs: engine.timeout_ms,
    /** Per replica. */
    connectionsMax: engine.connections_max,
    /** Per replica: attempts that may wait for a connection. */
    queueMax: engine.queue_max,
    responseBytesMax: engine.response_bytes_max,
    /** An answer may be this many times as long as the body of its call. */
    responseBytesFactor: engine.response_bytes_factor,
    /** `false`: a new connection for every call. */
    keepAlive: engine.keep_alive,
    /** Whether an answer with the `X-Request-Id` of another request is unusable. */
    checkIds: engine.check_ids,
    /** Which pairs are offered; `undefined`: `ask` if the protocol's engines can report them, otherwise `any`. */
    pairs: engine.pairs as 'any' | 'ask' | readonly string[] | undefined,
    /** What may be sent to it in each window, over all gateways; `undefined` for no limit. */
    cap: engine.characters satisfies EngineCap | undefined,
    /** `undefined`: every request is a separate call. */
    batch: engine.batch && toBatch(engine.batch, bodyBytes),
  };
}

/** Limits of one call to the engine. */
function toBatch(batch: NonNullable<WrittenEngine['batch']>, bodyBytes: number) {
  return {
    textsMax: batch.texts_max,
    /** Code points of all texts together; a batch is never larger than the largest body of one caller. */
    charactersMax: Math.min(batch.characters_max, Math.floor(bodyBytes / JSON_BYTES_MAX)),
    /** How long the first request waits for others; 0: until the end of the tick. */
    waitMs: batch.wait_ms,
  };
}

/** The documentation on the ops listener: callers should not reach it, but without `public_url` nothing better is known. */
export function docsUrlOn({ host, port }: NetworkAddress): string {
  return `http://${reachedAt({ host, port: port === 0 ? OPS_PORT : port })}/docs`;
}

/** URLs do not end with a slash. */
function toService({ name, public_url, docs_url, dashboard_url: dashboardUrl }: ConfigFile['service'], ops: NetworkAddress) {
  /** The URL that callers use; `undefined`: the listening address. */
  const publicUrl = public_url && withoutSlash(public_url);
  /** The base of problem `type` URIs. */
  const ownDocsUrl = publicUrl === undefined ? docsUrlOn(ops) : `${publicUrl}/docs`;
  const docsUrl = docs_url === undefined ? ownDocsUrl : withoutSlash(docs_url);
  /** `dashboardUrl`: the operator's own product with sign-in and checkout; without it nothing mentions one. */
  return { name, publicUrl, docsUrl, dashboardUrl };
}

function toLimits(limits: ConfigFile['limits'], timeoutMs: number) {
  const seconds = limits.request_seconds;
  return {
    bodyBytes: limits.body_bytes,
    /** How long a reservation is held before it expires. */
    leaseMs: limits.reservation_seconds * SECOND_MS,
    /** From a request's first byte to its answer. */
    requestMs: seconds === undefined ? ENGINE_ATTEMPTS * timeoutMs + BESIDES_ATTEMPTS_MS : seconds * SECOND_MS,
    /** The least time for which an idle connection is kept. */
    idleSeconds: limits.idle_seconds,
    /** How long requests in flight may continue after a signal to stop. */
    drainMs: limits.drain_seconds * SECOND_MS,
    /** How long the port stays open after a signal to stop, while probes already fail. */
    drainDelayMs: limits.drain_delay_seconds * SECOND_MS,
    /** Requests in flight in one process; any more are refused. */
    concurrency: limits.concurrency,
    /** Of these, requests of one team. */
    teamConcurrency: limits.team_concurrency,
    /** The share of a replica's connections that one team may use while others are active; 0 to 1. */
    teamEngineShare: limits.team_engine_share,
    /** A tick of the event loop that has been accepting requests for this long refuses the rest; 0 is no limit. */
    shedLoopDelayMs: limits.shed_loop_delay_ms,
    /** Unknown keys that are looked up for one address within a minute; 0 is no limit. */
    unknownKeysPerMinute: limits.unknown_keys_per_minute,
    /** Of a body whose key is not known yet. */
    slowestBytesPerSecond: limits.slowest_bytes_per_second,
    /** Whether answers have `RateLimit-Policy` and `RateLimit`. */
    rateLimitHeaders: limits.rate_limit_headers,
    /** UTF-8 bytes of all entries of a team's glossaries. */
    glossaryBytes: limits.glossary_bytes,
    /** How many different tags of a team are counted. */
    tags: limits.tags,
  };
}

/** Which teams the metrics identify, and how often all teams are checked. */
function toTeamMetrics(raw: NonNullable<ConfigFile['team_metrics']>) {
  return {
    everyMs: raw.every_seconds * SECOND_MS,
    /** At most this many of each kind: near the end of the quota, low on credit, with a key unused for long. */
    teamsMax: raw.teams_max,
    /** 0 to 1. */
    quotaUsedRatio: raw.quota_used_percent / 100,
    creditCharacters: raw.credit_characters,
    keyUnusedMs: raw.key_unused_days * DAY_MS,
  };
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

type Naming = Pick<
  Config,
  'file' | 'languagesFile' | 'tls' | 'plugins' | 'engines' | 'forward' | 'admin' | 'events' | 'documents' | 'otel'
>;

/** Absolute paths, with the configuration's own and that of its languages. */
export function namedFiles(config: Naming): string[] {
  const { file, languagesFile, tls, plugins, engines, forward, admin, events, documents, otel } = config;
  const secrets = [
    engines.map(({ options }) => options),
    forward.map(({ headers }) => headers),
    admin,
    events?.secret,
    documents?.secret,
    otel?.headers,
  ];
  return [
    file,
    languagesFile,
    ...(tls === undefined ? [] : [tls.certFile, tls.keyFile]),
    ...plugins.map(({ module }) => module).filter(isAbsolute),
    ...secretFiles(secrets).map((path) => besideFile(path, file)),
  ];
}

/** Everything of the form `{ file: PATH }`: whether it is a secret is only known with the schemas of protocols. */
function secretFiles(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const members = Object.entries(value);
  const path: unknown = members.length === 1 && members[0]![0] === 'file' ? members[0]![1] : undefined;
  if (typeof path === 'string') return path === '' || path.includes('\0') ? [] : [path];
  return members.flatMap(([, member]: [string, unknown]) => secretFiles(member));
}
