// The configuration as the program uses it: validated, with our names and units, paths resolved.
import { isAbsolute } from 'node:path';
import type { EngineCap } from '../ports/engine-use.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import { eventRules } from '../domain/event-rules.ts';
import type { LanguageTable } from '../domain/languages.ts';
import type { Plan } from '../domain/plan.ts';
import { namedBy } from './environment.ts';
import { besideFile } from './file-set.ts';
import type { FileContents } from './file-set.ts';
import { forwardOf } from './forward.ts';
import { parseNetworkAddress, reachedAt } from './network-address.ts';
import type { NetworkAddress } from './network-address.ts';
import type { PluginEntry } from './plugins.ts';
import { ENGINE_ATTEMPTS } from './rules.ts';
import { enginesOf } from './engine-schema.ts';
import type { WrittenEngine } from './engine-schema.ts';
import type { ConfigFile } from './schema.ts';

export type Config = Readonly<ReturnType<typeof toConfig>>;

export type EngineConfig = Readonly<ReturnType<typeof engineOf>>;

/** Where values come from, for the question which gateway this is. */
export interface ConfigOrigins {
  /** `--store`, `LINGATE_STORE`, the file's name, or `the default`. */
  readonly store: string;
  /** The same for the engines' URLs. */
  readonly engineUrls: string;
  readonly engineProtocol: string;
  /** What is valid but probably a mistake: one line each. */
  readonly warnings: readonly string[];
  /** The sections that the file has, and `engine.urls`. */
  readonly written: readonly string[];
  /** As they were read, with the named files. Nothing reads them again, also no later worker. */
  readonly files: FileContents;
}

/** Stands for a free port of the ops listener, which is only known when it listens. */
const OPS_PORT = 9090;
/** A request's time besides its attempts, if not configured: mostly for the body to arrive. */
const BESIDES_ATTEMPTS_MS = 10_000;
export const SECOND_MS = 1000;
/** Of a code point in JSON: a control character is six bytes, others are at most four. */
const JSON_BYTES_MAX = 6;

/** In `ConfigOrigins.written`: a default address would get the texts of callers. */
export const ENGINE_URLS = 'engine.urls';

/**
 * The file's members with defaults, variables and flags; paths and what others follow from are
 * resolved. `languagesFile` is an absolute path.
 */
export function toConfig(raw: ConfigFile, file: string, sources: ConfigOrigins, languagesFile: string, languages: LanguageTable) {
  const { engine: _engine, ...members } = raw;
  const { tls, limits, events, documents } = members;
  const engines: readonly EngineConfig[] = enginesOf(raw).map(({ name, place, engine }) =>
    engineOf(name, place, engine, limits.body_bytes),
  );
  const timeoutMs = longestTimeoutMs(engines);
  const ops = parseNetworkAddress(raw.ops)!;
  return {
    ...members,
    /** The members before they are resolved: what a reload compares. */
    raw,
    /** Absolute path of the file that it was read from. */
    file,
    sources,
    listen: parseNetworkAddress(raw.listen)!,
    ops,
    /** Absolute paths. */
    tls: tls && { certFile: besideFile(tls.cert_file, file), keyFile: besideFile(tls.key_file, file) },
    service: serviceOf(raw.service, ops),
    /** In the order of the file; at least one. */
    engines,
    /** The rules; `undefined`: all engines, in their order. */
    routing: raw.routing as readonly RoutingRule[] | undefined,
    limits: { ...limits, request_seconds: limits.request_seconds ?? (ENGINE_ATTEMPTS * timeoutMs + BESIDES_ATTEMPTS_MS) / SECOND_MS },
    plans: new Map(Object.entries(raw.plans as Readonly<Record<string, Plan>>)) as ReadonlyMap<string, Plan>,
    /** The URL may contain a token in its query: print it without the query. */
    events: events && { ...events, rules: eventRules(events.thresholds, events.credit_minor) },
    /** `folder` is the absolute path of the directory; `undefined`: in the store. */
    documents: documents && { ...documents, folder: documents.keep === 'store' ? undefined : besideFile(documents.keep, file) },
    languagesFile,
    languages,
    forward: raw.forward.map((entry) => forwardOf(entry, limits.body_bytes, timeoutMs)),
    plugins: raw.plugins.map(({ module, options }): PluginEntry => ({ module: moduleOf(module, file), from: file, options })),
  };
}

/** Over all engines: the longest duration of an attempt. */
export function longestTimeoutMs(engines: readonly Pick<EngineConfig, 'timeout_ms'>[]): number {
  return Math.max(...engines.map((engine) => engine.timeout_ms));
}

/** `place` is that in the file: `engine`, or `engines.NAME`. */
function engineOf(name: string, place: string, engine: WrittenEngine, bodyBytes: number) {
  const { batch } = engine;
  return {
    ...engine,
    name,
    place,
    /** Without credentials, and without a slash at the end. */
    urls: engine.urls.map(withoutSlash) as readonly string[],
    /** Pairs on offer; `undefined`: `ask` if the protocol's engines can report them, else `any`. */
    pairs: engine.pairs as 'any' | 'ask' | readonly string[] | undefined,
    /** What may be sent to it in each window, over all gateways. */
    characters: engine.characters satisfies EngineCap | undefined,
    /** Never larger than the largest body of one caller. */
    batch: batch && { ...batch, characters_max: Math.min(batch.characters_max, Math.floor(bodyBytes / JSON_BYTES_MAX)) },
  };
}

/** On the ops listener: callers should not reach it, but nothing better is known. */
export function docsUrlOn({ host, port }: NetworkAddress): string {
  return `http://${reachedAt({ host, port: port === 0 ? OPS_PORT : port })}/docs`;
}

/** URLs do not end with a slash. Problem `type` URIs begin with `docs_url`. */
function serviceOf(service: ConfigFile['service'], ops: NetworkAddress) {
  const publicUrl = service.public_url && withoutSlash(service.public_url);
  const ownDocsUrl = publicUrl === undefined ? docsUrlOn(ops) : `${publicUrl}/docs`;
  return { ...service, public_url: publicUrl, docs_url: service.docs_url === undefined ? ownDocsUrl : withoutSlash(service.docs_url) };
}

/** A path, if it looks like one; otherwise the name of an installed package. */
function moduleOf(module: string, file: string): string {
  const path = isAbsolute(module) || module.startsWith('.') || /\.(?:[cm]?js|[cm]?ts)$/.test(module);
  return path ? besideFile(module, file) : module;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Absolute paths, with the configuration's own and that of its languages. */
export function namedFiles(config: Config): string[] {
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
    ...namedBy('file', secrets)
      .filter((path) => path !== '' && !path.includes('\0'))
      .map((path) => besideFile(path, file)),
  ];
}
