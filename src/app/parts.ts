// Opens what a serving process is made of before its port; all is closed in reverse order.
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { clientAddressReader } from '../domain/client-address.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { ProxyUpstream } from '../forward/upstream.ts';
import { requestMetrics } from '../ops/metrics/gateway-metrics.ts';
import { Metrics } from '../ops/metrics/metrics.ts';
import type { GatewayRecords, StoreCreation } from '../ports/store.ts';
import type { Log } from '../ports/log.ts';
import type { RefusalDays } from '../ports/usage-history.ts';
import { ClockWatch } from '../runtime/clock-watch.ts';
import { FailureLog } from '../runtime/failure-log.ts';
import { Forgetting, GlossaryUpkeepTimer } from '../runtime/forgetting.ts';
import { boundedGlossaries, LruGlossaryCache } from '../runtime/glossary-cache.ts';
import { LruKeyCache } from '../runtime/key-cache.ts';
import { OfferedLanguages } from '../runtime/offered-languages.ts';
import { RecentTraffic } from '../runtime/recent-traffic.ts';
import { KnownFullWindows, PendingRefusals } from '../runtime/refusals.ts';
import { Rounds } from '../runtime/rounds.ts';
import { StoreProbe } from '../runtime/store-probe.ts';
import { openStore } from '../stores/open.ts';
import { recordRefusals } from '../stores/records/record-refusals.ts';
import { openMachineClock } from '../stores/records/store-clock.ts';
import { openAwaited, storeOptionsOf } from './configured-store.ts';
import { openTelemetryOf } from './configured-telemetry.ts';
import { forgetfulDocuments, openDocuments } from './documents.ts';
import { offeredBy, openWatchedEngines, tryEngines } from './engine-watch.ts';
import { judge } from './judge.ts';
import { monotonicMs } from './until-stopped.ts';
import type { ProcessLife } from './until-stopped.ts';

/** More keys than can flood a process within a second. */
const FULL_WINDOWS_MAX = 10_000;
/** The entries of some hundred large glossaries, or of many small ones. */
const DICTIONARIES_BYTES_MAX = 64 * 1024 * 1024;

/** Called for a database that was created, besides the log. */
export type OnNewStore = StoreCreation['onCreated'];

export interface Opening {
  readonly config: Config;
  readonly life: ProcessLife;
  /** Of the process, for its telemetry. */
  readonly role: string;
  readonly onNewStore?: OnNewStore;
}

/** Engines, upstream and store, with what watches over them. */
export type Opened = Awaited<ReturnType<typeof open>>;

/**
 * `store`: as operators see it. `keys`, `glossaries`, `dictionaries`: as callers' requests do, cached
 * and within their limits. `full`: rate windows known to be full; `offers`: what engines offer, by
 * plan and pair.
 */
export type GatewayParts = Awaited<ReturnType<typeof openParts>>;

/** What the operator's side needs, also in a process that serves no callers. */
export interface OperatorParts extends Pick<
  GatewayParts,
  'config' | 'secrets' | 'oidc' | 'life' | 'plugins' | 'metrics' | 'store' | 'nowMs'
> {
  readonly refusals: RefusalDays;
}

/** `life` closes all but the telemetry. Rejects with a `ConfigError` or `StoreError`. */
export async function openParts(opening: Opening) {
  const opened = await open(opening);
  const { config, life, store, engines, settings, requests, nowMs } = opened;
  const { log } = life;
  const documents = await openDocuments(opened);
  const refusals = new PendingRefusals({ days: recordRefusals(store.records, config.history.days), nowMs });
  life.add('counts of refusals', () => refusals.flush());
  const upkeep = life.closing('glossaries at engines', new GlossaryUpkeepTimer({ engines: engines.byName, nowMs, log }));
  const offered = offeredBy(config, settings);
  const asked = settings.map(({ config: { name }, can }) => ({ name, can, ask: engines.byName.get(name)!.askPairs }));
  const offers = life.closing('offered languages', new OfferedLanguages({ config: offered, engines: asked, log, adviceFor }));
  const trials = life.closing('engine trials', tryEngines(engines, offered.pairs, log));
  const runningRecord = life.closing('running record', recordRunning(store.gateways, config.file));
  const forgetful = [...opened.plugins.forgetful, ...upkeep.forgetful, ...(documents === undefined ? [] : [forgetfulDocuments(documents)])];
  // Nothing besides the store has data of teams where there are none.
  if (forgetful.length > 0) life.closing('forgetting', new Forgetting({ audit: store.audit, plugins: forgetful, log, nowMs }));
  const keysMax = config.auth.key_cache_max;
  const dictionaries = new LruGlossaryCache({ store: store.glossaries, bytesMax: DICTIONARIES_BYTES_MAX });
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
    keys: new LruKeyCache({ directory: store.keys, keysMax, now: monotonicMs, onLookup: requests.keyLookup }),
    dictionaries,
    glossaries: boundedGlossaries(store.glossaries, dictionaries, config.limits.glossary_bytes),
    newId: ulidSource(nowMs),
  };
}

async function open({ config, life, role, onNewStore }: Opening) {
  const { log } = life;
  const metrics = new Metrics();
  metrics.watchProcess();
  const { plugins, engines: settings, forward, secrets, oidc, otel } = await judge(config, process.env, log);
  life.closing('plugins', plugins);
  for (const { plugin, metric } of plugins.metrics) metrics.plugin(plugin, metric);
  const names = config.engines.map(({ name }) => name);
  const requests = requestMetrics(metrics, names);
  const failures = life.closing('failure log', new FailureLog(log));
  const { engines, caps } = openWatchedEngines(config, settings, plugins.engineModules, { metrics, log, failures });
  life.closing('engine', engines);
  const upstream = await openUpstream(config);
  life.add('upstream', () => upstream?.close());
  const { store, clocks, nowMs } = await openWatchedStore({ config, life, onNewStore }, plugins);
  await caps.start(store.engineUse);
  life.closing('engine limits', caps);
  const probe = life.closing('store probe', new StoreProbe({ store, shown: withoutCredentials(config.store), now: monotonicMs, log }));
  metrics.read('clock_step_seconds', () => Math.round(Math.abs(clocks.step()?.byMs ?? 0) / 1000));
  metrics.read('store_up', () => Number(probe.answers));
  metrics.read('store_writable', () => Number(probe.takesWrites));
  const telemetry = await openTelemetryOf(otel, { process: role, log, now: monotonicMs, nowMs });
  return {
    config,
    life,
    metrics,
    requests,
    plugins,
    secrets,
    oidc,
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
async function openWatchedStore({ config, life, onNewStore }: Omit<Opening, 'role'>, plugins: LoadedPlugins) {
  const { log } = life;
  const clock = openMachineClock();
  const onCreated = newStoreLine(log, onNewStore);
  const opened = await openAwaited(config, log, () =>
    openStore(config.store, { log, clock, ...storeOptionsOf(config), maintains: true, others: plugins.stores, onCreated }),
  );
  life.closing('store', opened);
  const clocks = life.closing('clock watch', new ClockWatch({ clock, store: opened.clock, log }));
  return { store: { ...opened, ledger: clocks.guarded(opened.ledger) }, clocks, nowMs: clock.nowMs };
}

export function newStoreLine(log: Log, onNewStore: OnNewStore): (place: string) => void {
  return (place) => {
    log.info('a new database was made', { store: place });
    onNewStore?.(place);
  };
}

/** `undefined` without forward routes, so that http-proxy-3 is not loaded. */
async function openUpstream({ forward, engines }: Config): Promise<ProxyUpstream | undefined> {
  if (forward.length === 0) return undefined;
  const { openProxyUpstream } = await import('../forward/upstream.ts');
  return openProxyUpstream({ keepAlive: engines.every(({ keep_alive: keepsAlive }) => keepsAlive) });
}

/** Several times within the minute for which a record counts as running. */
const RECORD_EVERY_MS = 15_000;

/** Says in the store that this gateway runs, for commands that need a store for themselves. */
function recordRunning(gateways: GatewayRecords, file: string): Rounds {
  // If the store fails to write it, the next attempt follows soon.
  return new Rounds(RECORD_EVERY_MS, () => gateways.leave({ host: hostname(), file }).catch(() => undefined));
}
