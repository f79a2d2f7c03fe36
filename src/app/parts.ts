// Opens what a serving process is made of before its port; all is closed in reverse order.
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import type { Teardown } from './until-stopped.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { countCharacters } from '../domain/characters.ts';
import { clientAddressReader } from '../domain/client-address.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import { openEngines } from '../engines/open-engine.ts';
import type { OpenEngines } from '../engines/open-engine.ts';
import type { ProxyUpstream } from '../forward/upstream.ts';
import type { JsonLog } from '../ops/json-log.ts';
import { RequestMetrics, engineMetrics } from '../ops/metrics/gateway-metrics.ts';
import { Metrics } from '../ops/metrics/metrics.ts';
import type { GatewayRecords } from '../ports/store.ts';
import type { EngineCap } from '../ports/engine-use.ts';
import type { Log } from '../ports/log.ts';
import { ClockWatch } from '../runtime/clock-watch.ts';
import { EngineCaps } from '../runtime/engine-caps.ts';
import { FailureLog } from '../runtime/failure-log.ts';
import { Forgetting, GlossaryUpkeepTimer } from '../runtime/forgetting.ts';
import { OfferedLanguages } from '../runtime/offered-languages.ts';
import type { OfferedByConfig } from '../runtime/offered-languages.ts';
import { RecentTraffic } from '../runtime/recent-traffic.ts';
import { KnownFullWindows, PendingRefusals } from '../runtime/refusals.ts';
import { Rounds } from '../runtime/rounds.ts';
import { StoreProbe } from '../runtime/store-probe.ts';
import { openStore } from '../stores/open.ts';
import { recordRefusals } from '../stores/records/record-refusals.ts';
import { openMachineClock } from '../stores/records/store-clock.ts';
import { openAwaited, storeOptionsOf } from './configured-store.ts';
import { openTelemetryOf } from './configured-telemetry.ts';
import { pairsOf } from './engine-settings.ts';
import type { EngineSettings } from './engine-settings.ts';
import { replicaWatch, tryEngines } from './engine-watch.ts';
import type { EngineWatchParts } from './engine-watch.ts';
import { judge } from './judge.ts';
import { forgetfulDocuments, openDocuments } from './documents.ts';

export const monotonicMs: () => number = performance.now.bind(performance);

/** More keys than can flood a process within a second. */
const FULL_WINDOWS_MAX = 10_000;

/** Called for a database that was created, besides the log. */
export type OnNewStore = ((place: string) => void) | undefined;

export interface Opening {
  readonly config: Config;
  readonly output: JsonLog;
  readonly down: Teardown;
  /** Of the process, for its telemetry. */
  readonly role: string;
  readonly onNewStore?: OnNewStore;
}

/** Engines, upstream and store, with what watches over them. */
export type Opened = Awaited<ReturnType<typeof open>>;

/** `full`: rate windows known to be full; `offers`: what engines offer, by plan and pair. */
export type ServingParts = Awaited<ReturnType<typeof openParts>>;

/** `down` closes all but the telemetry. Rejects with a `ConfigError` or `StoreError`. */
export async function openParts(opening: Opening) {
  const opened = await open(opening);
  const { config, output, down, store, engines, settings, nowMs } = opened;
  const { log } = output;
  const documents = await openDocuments(opened);
  const days = recordRefusals(store.records, config.history.days);
  const refusals = new PendingRefusals({ days, nowMs });
  down.add('counts of refusals', () => refusals.flush());
  const upkeep = down.closing('glossaries at engines', new GlossaryUpkeepTimer({ engines: engines.byName, nowMs, log }));
  const offers = down.closing(
    'offered languages',
    new OfferedLanguages({
      config: offeredBy(config, settings),
      engines: settings.map(({ config: { name }, can }) => ({ name, can, ask: engines.byName.get(name)!.askPairs })),
      log,
      adviceFor,
    }),
  );
  const trials = down.closing('engine trials', tryEngines(triedEngines(opened), log));
  const runningRecord = down.closing('running record', recordRunning(store.gateways, config.file));
  const forgetful = [...opened.plugins.forgetful, ...upkeep.forgetful, ...(documents === undefined ? [] : [forgetfulDocuments(documents)])];
  // Nothing besides the store has data of teams where there are none.
  if (forgetful.length > 0) down.closing('forgetting', new Forgetting({ audit: store.audit, plugins: forgetful, log, nowMs }));
  return {
    ...opened,
    documents,
    refusals,
    offers,
    trials,
    runningRecord,
    client: clientAddressReader(config.listen_trusted_proxies, config.listen_client_address),
    full: new KnownFullWindows({ keysMax: FULL_WINDOWS_MAX, now: monotonicMs }),
    traffic: new RecentTraffic(nowMs),
  };
}

async function open({ config, output, down, role, onNewStore }: Opening) {
  const { log } = output;
  const metrics = new Metrics();
  metrics.watchProcess();
  const { plugins, engines: settings, forward, secrets, otel } = await judge(config, process.env, log);
  down.add('plugins', () => plugins.close());
  for (const { plugin, metric } of plugins.metrics) metrics.plugin(plugin, metric);
  const requests = new RequestMetrics(
    metrics,
    config.engines.map(({ name }) => name),
  );
  const failures = down.closing('failure log', new FailureLog(log));
  const caps = new EngineCaps({ caps: capsOf(config), reports: config.events !== undefined, log, now: monotonicMs });
  const engines = openEnginesOf(config, settings, plugins.engineModules, caps, { metrics, log, failures });
  measureEngines(metrics, engines, caps);
  down.add('engine', () => engines.engine.close());
  const upstream = await openUpstream(config);
  down.add('upstream', () => upstream?.close());
  const { store, clocks, nowMs } = await openWatchedStore({ config, log, down, onNewStore }, plugins);
  await caps.start(store.engineUse);
  down.closing('engine limits', caps);
  const probe = down.closing('store probe', new StoreProbe({ store, shown: withoutCredentials(config.store), now: monotonicMs, log }));
  metrics.read('clock_step_seconds', () => Math.round(Math.abs(clocks.step()?.byMs ?? 0) / 1000));
  metrics.read('store_up', () => Number(probe.answers));
  metrics.read('store_writable', () => Number(probe.takesWrites));
  const telemetry = await openTelemetryOf(otel, { process: role, log, now: monotonicMs, nowMs });
  return {
    config,
    output,
    down,
    metrics,
    requests,
    plugins,
    secrets,
    store,
    engines,
    caps,
    settings,
    forward,
    upstream,
    probe,
    clocks,
    telemetry,
    nowMs,
  };
}

/** Admits nothing while its clock is wrong. `nowMs`: the believed time of this process. */
async function openWatchedStore(
  { config, log, down, onNewStore }: Pick<Opening, 'config' | 'down' | 'onNewStore'> & { readonly log: Log },
  plugins: LoadedPlugins,
) {
  const clock = openMachineClock();
  const onCreated = newStoreLine(log, onNewStore);
  const opened = await openAwaited(config, log, () =>
    openStore(config.store, { log, clock, ...storeOptionsOf(config), maintains: true, others: plugins.stores, onCreated }),
  );
  down.closing('store', opened);
  const clocks = down.closing('clock watch', new ClockWatch({ clock, store: opened.clock, log }));
  return { store: { ...opened, ledger: clocks.guarded(opened.ledger) }, clocks, nowMs: clock.nowMs };
}

function measureEngines(metrics: Metrics, { byName }: OpenEngines, caps: EngineCaps): void {
  metrics.read('engine_limit_reached', () => caps.states().map(({ engine, reached }) => [{ engine }, Number(reached)]));
  metrics.read('engine_replica_up', () =>
    [...byName].flatMap(([engine, one]) =>
      one.health().map(({ url, asideMs, reached }) => [{ engine, replica: url }, Number(asideMs === undefined && reached !== false)]),
    ),
  );
  metrics.read('engine_calls_in_flight', () => [...byName].map(([engine, one]) => [{ engine }, one.load().inFlight]));
  metrics.read('engine_calls_waiting', () => [...byName].map(([engine, one]) => [{ engine }, one.load().waiting]));
}

/** What the engines of a configuration offer, and which plan may use which. */
export function offeredBy({ languages, engines, routing }: Config, settings: readonly EngineSettings[]): OfferedByConfig {
  const protocols = new Map(settings.map(({ config: { name }, protocol }) => [name, protocol]));
  return {
    table: languages,
    pairs: new Map(engines.map(({ name, pairs }) => [name, pairsOf(pairs, protocols.get(name)!)])),
    rules: routing,
  };
}

/** Those that are not asked for their pairs anyway. */
function triedEngines({ config, settings, engines }: Opened) {
  const { pairs } = offeredBy(config, settings);
  return new Map([...engines.byName].filter(([name, engine]) => pairs.get(name) !== 'ask' || engine.askPairs === undefined));
}

export function newStoreLine(log: Log, onNewStore: OnNewStore): (place: string) => void {
  return (place) => {
    log.info('a new database was made', { store: place });
    onNewStore?.(place);
  };
}

/** `undefined` without forward routes, so that http-proxy-3 is not loaded. */
async function openUpstream({ forward }: Config): Promise<ProxyUpstream | undefined> {
  return forward.length === 0 ? undefined : (await import('../forward/upstream.ts')).openProxyUpstream();
}

function capsOf({ engines }: Config): ReadonlyMap<string, EngineCap> {
  return new Map(engines.flatMap(({ name, characters: cap }) => (cap === undefined ? [] : [[name, cap] as const])));
}

function openEnginesOf(
  { limits }: Config,
  settings: readonly EngineSettings[],
  modules: LoadedPlugins['engineModules'],
  caps: EngineCaps,
  { metrics, log, failures }: Pick<EngineWatchParts, 'log' | 'failures'> & { readonly metrics: Metrics },
): OpenEngines {
  return openEngines(
    settings.map(({ config, protocol, can, options, headers }) => {
      const meters = engineMetrics(metrics, config.name);
      const { name: engine, protocol: protocolName } = config;
      const watching = { engine, protocol: protocolName, module: modules.get(protocolName), metrics: meters, log, failures };
      return {
        ...config,
        can,
        teamShare: limits.team_engine_share,
        onSent:
          config.characters &&
          ((text) =>
            caps.count(
              config.name,
              text.reduce((sum, one) => sum + countCharacters(one), 0),
            )),
        onFileSent: config.characters && ((characters) => caps.countFile(config.name, characters)),
        protocol,
        options,
        headers,
        watch: (url) => replicaWatch(watching, url),
        onBatch: meters.batch,
        onSecond: meters.second,
        onUnasked: tellUnasked(meters.unasked, log),
        onTokens: meters.tokens,
      };
    }),
  );
}

/** Logs one line when this state begins; counts every occurrence. */
function tellUnasked(count: () => void, log: Log): (replica: string, begins: boolean) => void {
  return (replica, begins) => {
    count();
    if (begins)
      log.warn('engine sent unexpected bytes: each request to it gets a new connection until a minute has passed without any', { replica });
  };
}

/** Several times within the minute for which a record counts as running. */
const RECORD_EVERY_MS = 15_000;

/** Says in the store that this gateway runs, for commands that need a store for themselves. */
function recordRunning(gateways: GatewayRecords, file: string): Rounds {
  // If the store fails to write it, the next attempt follows soon.
  return new Rounds(RECORD_EVERY_MS, () => gateways.leave({ host: hostname(), file }).catch(() => undefined));
}
