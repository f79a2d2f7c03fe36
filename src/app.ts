// The only wiring: configuration to store, engine, steps, routes and listeners; and the way down again.
import { performance } from 'node:perf_hooks';
import { buildRoutes } from './chain.ts';
import type { ChainParts } from './chain.ts';
import { ConfigError } from './config/config-error.ts';
import type { Config } from './config/config.ts';
import { loadPlugins } from './config/plugins.ts';
import type { LoadedPlugins } from './config/plugins.ts';
import { Gateway } from './core/gateway.ts';
import { ProblemWriter } from './core/problem-writer.ts';
import { compileRoute } from './core/route.ts';
import type { RouteSpec } from './core/route.ts';
import { Router } from './core/router.ts';
import { Teardown } from './core/teardown.ts';
import { Languages } from './domain/languages.ts';
import { ulidSource } from './domain/ulid.ts';
import { openEngine } from './engines/pool.ts';
import { builtInProtocols } from './engines/protocols.ts';
import { openJsonLog } from './ops/json-log.ts';
import type { JsonLog, LogDestination } from './ops/json-log.ts';
import { openMetrics } from './ops/metrics.ts';
import type { OpenApiOptions } from './ops/openapi.ts';
import { startOpsListener } from './ops/ops-listener.ts';
import { opsPages } from './ops/ops-pages.ts';
import { StoreProbe } from './ops/store-probe.ts';
import type { Clock } from './ports/clock.ts';
import type { Engine, EngineProtocol } from './ports/engine.ts';
import type { Log } from './ports/log.ts';
import type { Store } from './ports/store.ts';
import { drain } from './server/lifecycle.ts';
import type { Listener, ListenerOptions } from './server/listener.ts';
import { CachedKeyDirectory } from './stores/cached-key-directory.ts';
import { openStore } from './stores/open.ts';
import { SettlementQueue } from './stores/settlement-queue.ts';

export { startDemoEngine } from './engines/demo.ts';

export interface AppOptions {
  /** Where log lines go instead of standard output. */
  readonly logDestination?: LogDestination;
  /** The problems' documentation is the ops listener's own, whatever `service.docs_url` says. */
  readonly docsOnOps?: boolean;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** A running gateway. */
export interface App {
  readonly listen: Address;
  readonly ops: Address;
  readonly listenUrl: string;
  readonly opsUrl: string;
  readonly log: Log;
  /** Refuses new connections, lets what is under way end, settles it, closes everything. Runs once. */
  stop(): Promise<void>;
}

const clock: Clock = { nowMs: () => Date.now() };
const monotonicMs = (): number => performance.now();
const SETTLE_WAIT_MS = 5000;
/** The version in every path. */
const API_VERSION = '1';

/** Rejects with a `ConfigError`, `StoreError` or `ListenError`, each fit to be shown to an operator as it is. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const output = openJsonLog(options.logDestination);
  const { log } = output;
  const down = new Teardown((name, error) => log.error('closing failed', { part: name, reason: reasonOf(error) }));
  try {
    const plugins = await loadPlugins(config.plugins, log);
    down.add('plugins', () => plugins.close());
    const engine = openEngineOf(config, plugins);
    down.add('engine', () => engine.close());
    const store = await openStore(config.store, { log, clock, ...config.storeOptions });
    down.add('store', () => store.close());
    const { listen, ops } = await serve(config, { store, engine, plugins, output, down, docsOnOps: options.docsOnOps ?? false });
    const listenUrl = urlOf(listen, schemeOf(config));
    const opsUrl = urlOf(ops, 'http');
    log.info(`lingate is ready on ${listenUrl}, ops on ${opsUrl}`);
    return { listen, ops, listenUrl, opsUrl, log, stop: () => stop(down, output) };
  } catch (error) {
    await down.run();
    output.flush();
    throw error;
  }
}

/** The final order of steps of every route, plugins included. Opens neither store nor port. */
export async function describeRoutes(config: Config): Promise<{ route: string; steps: string[] }[]> {
  const plugins = await loadPlugins(config.plugins, openJsonLog({ write: () => undefined }).log);
  // Only names and order are looked at: no part is ever used.
  const specs = buildRoutes(config, plugins, { store: {} } as ChainParts);
  await plugins.close();
  return specs.map((spec) => ({ route: `${spec.method} ${spec.path}`, steps: compileRoute(spec).steps.map((step) => step.name) }));
}

interface Opened {
  readonly store: Store;
  readonly engine: Engine;
  readonly plugins: LoadedPlugins;
  readonly output: JsonLog;
  readonly down: Teardown;
  readonly docsOnOps: boolean;
}

async function serve(config: Config, opened: Opened): Promise<{ listen: Address; ops: Address }> {
  const { store, engine, plugins, output, down } = opened;
  const { log } = output;
  const probe = new StoreProbe(store, monotonicMs);
  down.add('store probe', () => probe.close());
  const state = { draining: false, inFlight: () => 0, openSettlements: () => 0, serverUrl: '', docsUrl: config.service.docsUrl };
  const serving = (): boolean => !state.draining && probe.answers;
  const metrics = openMetrics({
    inFlight: () => state.inFlight(),
    openSettlements: () => state.openSettlements(),
    storeAnswers: () => probe.answers,
    draining: () => state.draining,
  });
  const api = (): OpenApiOptions => apiOptions(config, state);
  const ops = await startOpsListener(config.ops.host, config.ops.port, opsPages({ ready: serving, metrics, api }));
  down.add('ops listener', () => ops.close());
  if (opened.docsOnOps) state.docsUrl = `${urlOf(ops.address, 'http')}/docs`;
  const settlements = new SettlementQueue({
    ledger: store.ledger,
    clock,
    log,
    leaseMs: config.limits.leaseMs,
    onSettled: (verdict, result) => metrics.settlement(verdict, result),
  });
  state.openSettlements = () => settlements.open;
  down.add('settlements', () => settle(settlements, log));
  const keys = new CachedKeyDirectory({
    directory: store.keys,
    keysMax: config.auth.keyCacheMax,
    now: monotonicMs,
    onLookup: (result) => metrics.keyLookup(result),
  });
  const list = new Languages(config.languages);
  const parts = { store, engine, keys, settlements, ...output, metrics, languages: () => list, serving, now: monotonicMs };
  const gateway = openGateway(config, buildRoutes(config, plugins, parts), log);
  state.inFlight = () => gateway.inFlight;
  const listener = await startListener(config, gateway, new ProblemWriter({ docsUrl: state.docsUrl, realm: config.service.name }));
  state.serverUrl = urlOf(listener.address, schemeOf(config));
  down.add('public listener', async () => {
    state.draining = true;
    await drain({ listeners: [listener], gateway, deadlineMs: config.limits.drainMs });
    gateway.close();
  });
  return { listen: listener.address, ops: ops.address };
}

function apiOptions(config: Config, { serverUrl, docsUrl }: { readonly serverUrl: string; readonly docsUrl: string }): OpenApiOptions {
  return {
    serviceName: config.service.name,
    version: API_VERSION,
    serverUrl,
    docsUrl,
    sourceLanguages: config.languages.sources.map(({ code }) => code),
    targetLanguages: config.languages.targets.map(({ code }) => code),
    vendorNames: config.auth.vendorNames,
  };
}

function openGateway(config: Config, routes: readonly RouteSpec[], log: Log): Gateway {
  // Whatever else a route does, its first step is the access log.
  const around = routes[0]!.steps.slice(0, 1);
  return new Gateway({
    router: new Router(routes, around),
    around,
    newId: ulidSource(() => clock.nowMs()),
    now: monotonicMs,
    requestMs: config.limits.requestMs,
    reportBug: (x, where, error) => log.error('a bug', { request_id: x.id, where, reason: nameOf(error) }),
  });
}

function openEngineOf(config: Config, plugins: LoadedPlugins): Engine {
  const protocols: ReadonlyMap<string, EngineProtocol> = new Map([...builtInProtocols, ...plugins.engines]);
  const protocol = protocols.get(config.engine.protocol);
  if (protocol === undefined) {
    throw new ConfigError([`engine.protocol: there is no "${config.engine.protocol}"; there are ${[...protocols.keys()].join(', ')}`]);
  }
  return openEngine({ ...config.engine, protocol });
}

async function startListener(config: Config, gateway: Gateway, problems: ProblemWriter): Promise<Listener> {
  const options: ListenerOptions = {
    gateway,
    problems,
    host: config.listen.host,
    port: config.listen.port,
    exclusive: true,
    bodyBytesMax: config.limits.bodyBytes,
    ...(config.tls === undefined ? {} : { tls: config.tls }),
  };
  // Imported when chosen: the library's binary must not be needed where the other listener is used.
  if (config.listener === 'node') return (await import('./server/node-http.ts')).startNodeListener(options);
  return (await import('./server/uws.ts')).startUwsListener(options);
}

/** Verdicts that the store has not acknowledged are worth a moment's wait; after that their leases see to them. */
async function settle(settlements: SettlementQueue, log: Log): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, SETTLE_WAIT_MS);
  await Promise.race([settlements.drained(), late]);
  clearTimeout(timer);
  if (settlements.open > 0) log.warn('reservations left to their leases', { count: settlements.open });
  settlements.close();
}

async function stop(down: Teardown, output: JsonLog): Promise<void> {
  await down.run();
  output.log.info('lingate has stopped');
  output.flush();
}

function schemeOf(config: Config): 'http' | 'https' {
  return config.tls === undefined ? 'http' : 'https';
}

function urlOf(address: Address, scheme: 'http' | 'https'): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${scheme}://${host}:${address.port}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown';
}

/** A bug's message may quote a caller's text: only its class and where it was thrown are logged. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frames = error.stack?.slice(`${error.name}: ${error.message}`.length);
  const at = frames?.split('\n').find((line) => line.trimStart().startsWith('at '));
  return `${error.name} ${at?.trim() ?? ''}`;
}
