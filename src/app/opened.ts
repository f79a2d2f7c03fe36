// Opens what a serving process needs before its port: plugins, engines, upstreams and store; they are closed in reverse order.
import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { EngineSettings } from '../config/engine-options.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import type { Teardown } from '../core/teardown.ts';
import { countCharacters } from '../domain/characters.ts';
import type { EngineCap } from '../ports/engine-use.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
import { openEngines } from '../engines/open-engine.ts';
import type { OpenEngines } from '../engines/open-engine.ts';
import type { ProxyUpstream, ProxyUpstreamOptions } from '../forward/upstream.ts';
import type { JsonLog } from '../ops/json-log.ts';
import { openMetrics } from '../ops/metrics/metrics.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { Telemetry } from '../ports/telemetry.ts';
import { EngineCaps } from '../runtime/engine-caps.ts';
import { ClockWatch } from '../runtime/clock-watch.ts';
import { FailureLog } from '../runtime/failure-log.ts';
import { StoreProbe } from '../runtime/store-probe.ts';
import { openStore } from '../stores/open.ts';
import { replicaWatch } from './engine-watch.ts';
import type { EngineWatchParts } from './engine-watch.ts';
import { judge } from './judge.ts';
import { openMachineClock } from '../stores/records/record-clock.ts';
import { openAwaited, storeOptionsOf } from './configured-store.ts';
import { openTelemetryOf } from './configured-telemetry.ts';

export const monotonicMs: () => number = performance.now.bind(performance);

export interface Opened {
  readonly config: Config;
  readonly output: JsonLog;
  readonly down: Teardown;
  readonly metrics: Metrics;
  readonly plugins: LoadedPlugins;
  readonly store: Store;
  readonly engines: OpenEngines;
  readonly caps: EngineCaps;
  /** In the order of the configuration. */
  readonly settings: readonly EngineSettings[];
  readonly forward: readonly ForwardRoute[];
  readonly upstream: ProxyUpstream | undefined;
  readonly probe: StoreProbe;
  readonly clocks: ClockWatch;
  /** `undefined` if nothing is traced or exported. Closed by those who know until when. */
  readonly telemetry: Telemetry | undefined;
  /** The time of this process that is believed. */
  readonly nowMs: () => number;
}

/** Called for a database that was created, besides the log. */
export type OnNewStore = ((place: string) => void) | undefined;

/** `down` closes everything but the telemetry. `role` is that of the process. Rejects with a `ConfigError` or `StoreError`. */
export async function openParts(config: Config, output: JsonLog, down: Teardown, role: string, onNewStore?: OnNewStore): Promise<Opened> {
  const { log } = output;
  const metrics = openMetrics();
  const { plugins, engines: settings, forward } = await judge(config, process.env, log);
  down.add('plugins', () => plugins.close());
  for (const { plugin, metric } of plugins.metrics) metrics.plugin(plugin, metric);
  const failures = new FailureLog(log);
  down.add('failure log', () => failures.close());
  const caps = new EngineCaps({ caps: capsOf(config), tells: config.events !== undefined, log, now: monotonicMs });
  metrics.engineLimits(() => caps.states());
  const engines = openEnginesOf(config, settings, plugins.engineModules, caps, { metrics, log, failures });
  metrics.engineReplicas(() =>
    [...engines.byName].flatMap(([name, engine]) =>
      engine.health().map(({ url, asideMs, reached }) => ({ engine: name, replica: url, up: asideMs === undefined && reached !== false })),
    ),
  );
  metrics.engineLoads(() => [...engines.byName].map(([name, engine]) => ({ engine: name, ...engine.load() })));
  down.add('engine', () => engines.engine.close());
  const upstream = await openUpstream(config, {
    keepAlive: config.engines.every(({ keepAlive }) => keepAlive),
    onUnasked: tellUnasked('forward target', forward.length === 0 ? () => undefined : metrics.forwardUnasked(), log),
  });
  down.add('upstream', () => upstream?.close());
  const clock = openMachineClock();
  const opened = await openAwaited(config, log, () =>
    openStore(config.store, {
      log,
      clock,
      ...storeOptionsOf(config),
      tends: true,
      others: plugins.stores,
      onCreated: newStoreLine(log, onNewStore),
    }),
  );
  down.add('store', () => opened.close());
  const clocks = new ClockWatch({ clock, store: opened.clock, log });
  down.add('clock watch', () => clocks.close());
  const store = { ...opened, ledger: clocks.guarded(opened.ledger) };
  await caps.start(store.engineUse);
  down.add('engine limits', () => caps.close());
  const probe = new StoreProbe({ store, shown: withoutCredentials(config.store), now: monotonicMs, log });
  down.add('store probe', () => probe.close());
  metrics.gauge('clock_step', () => Math.round(Math.abs(clocks.step()?.byMs ?? 0) / 1000));
  metrics.gauge('store_up', () => Number(probe.answers));
  metrics.gauge('store_writable', () => Number(probe.takesWrites));
  const { nowMs } = clock;
  // Last: nothing can fail after it.
  const telemetry = await openTelemetryOf(config, { process: role, log, now: monotonicMs, nowMs });
  return { config, output, down, metrics, plugins, store, engines, caps, settings, forward, upstream, probe, clocks, telemetry, nowMs };
}

export function newStoreLine(log: Log, onNewStore: OnNewStore): (place: string) => void {
  return (place) => {
    log.info('a new database was made', { store: place });
    onNewStore?.(place);
  };
}

/** What forwards requests; `undefined` if there are no forward routes, so that http-proxy-3 is not loaded. */
async function openUpstream({ forward }: Config, options: ProxyUpstreamOptions): Promise<ProxyUpstream | undefined> {
  if (forward.length === 0) return undefined;
  const { openProxyUpstream } = await import('../forward/upstream.ts');
  return openProxyUpstream(options);
}

function capsOf({ engines }: Config): ReadonlyMap<string, EngineCap> {
  return new Map(engines.flatMap(({ name, cap }) => (cap === undefined ? [] : [[name, cap] as const])));
}

function openEnginesOf(
  { limits }: Config,
  settings: readonly EngineSettings[],
  modules: LoadedPlugins['engineModules'],
  caps: EngineCaps,
  { metrics, log, failures }: Pick<EngineWatchParts, 'metrics' | 'log' | 'failures'>,
): OpenEngines {
  return openEngines(
    settings.map(({ config, protocol, can, options, headers }) => {
      const meters = metrics.engine(config.name);
      const { name: engine, protocol: protocolName } = config;
      const watching = { engine, protocol: protocolName, module: modules.get(protocolName), metrics, log, failures };
      return {
        ...config,
        can,
        teamShare: limits.team_engine_share,
        onSent:
          config.cap &&
          ((text) =>
            caps.count(
              config.name,
              text.reduce((sum, one) => sum + countCharacters(one), 0),
            )),
        onFileSent: config.cap && ((characters) => caps.countFile(config.name, characters)),
        protocol,
        options,
        headers,
        watch: (url) => replicaWatch(watching, url),
        onBatch: meters.batch,
        onSecond: meters.second,
        onUnasked: tellUnasked('engine', meters.unasked, log),
        onTokens: meters.tokens,
      };
    }),
  );
}

/** Logs one line when this state begins; counts every occurrence. */
function tellUnasked(who: string, count: () => void, log: Log): (replica: string, begins: boolean) => void {
  const message = `${who} sent unexpected bytes: each request to it gets a new connection until a minute has passed without any`;
  return (replica, begins) => {
    count();
    if (begins) log.warn(message, { replica });
  };
}
