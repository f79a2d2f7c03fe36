// What a process that serves opens before its port: plugins, engine, upstream and store; they are closed in reverse order.
import { performance } from 'node:perf_hooks';
import type { Config } from '../config/config.ts';
import type { EngineSettings } from '../config/engine-options.ts';
import type { LoadedPlugins } from '../config/plugins.ts';
import type { Teardown } from '../core/teardown.ts';
import { withoutCredentials } from '../domain/store-url.ts';
import type { ForwardRoute } from '../domain/forward-route.ts';
import type { ReplicatedEngine } from '../engines/balancer.ts';
import type { ReplicaWatch } from '../engines/replica.ts';
import { openEngine } from '../engines/open-engine.ts';
import type { ProxyUpstream } from '../forward/proxy-upstream.ts';
import type { JsonLog } from '../ops/json-log.ts';
import { openMetrics } from '../ops/metrics/metrics.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EngineCapabilities, EngineProtocol } from '../ports/engine.ts';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import type { Store } from '../ports/store.ts';
import { FailureLog } from '../runtime/failure-log.ts';
import { StoreProbe } from '../runtime/store-probe.ts';
import { openStore } from '../stores/open.ts';
import { replicaWatch } from './engine-watch.ts';
import { openUpstream } from './forward-setup.ts';
import { judge } from './judge.ts';
import { openAwaited } from './store-wait.ts';

export const clock: Clock = { nowMs: () => Date.now() };
export const monotonicMs = (): number => performance.now();

export interface Opened {
  readonly config: Config;
  readonly output: JsonLog;
  readonly down: Teardown;
  readonly metrics: Metrics;
  readonly plugins: LoadedPlugins;
  readonly store: Store;
  readonly engine: ReplicatedEngine;
  readonly can: EngineCapabilities;
  readonly protocol: EngineProtocol;
  readonly forward: readonly ForwardRoute[];
  readonly upstream: ProxyUpstream | undefined;
  readonly probe: StoreProbe;
}

/** Who is told of a database that was made, besides the log. */
export type OnNewStore = ((place: string) => void) | undefined;

/** Closing is left to `down`. Rejects with a `ConfigError` or `StoreError`. */
export async function openParts(config: Config, output: JsonLog, down: Teardown, onNewStore?: OnNewStore): Promise<Opened> {
  const { log } = output;
  const metrics = openMetrics();
  const { plugins, engine: settings, forward } = await judge(config, log);
  down.add('plugins', () => plugins.close());
  for (const { plugin, metric } of plugins.metrics) metrics.plugin(plugin, metric);
  const failures = new FailureLog(log);
  down.add('failure log', () => failures.close());
  const watching = { engine: ONLY_ENGINE, protocol: config.engine.protocol, metrics, log, failures };
  const engine = openEngineOf(config, settings, metrics, log, (url) => replicaWatch(watching, url));
  metrics.engineReplicas(() =>
    engine.health().map(({ url, asideMs }) => ({ engine: ONLY_ENGINE, replica: url, up: asideMs === undefined })),
  );
  down.add('engine', () => engine.close());
  const upstream = await openUpstream(config, {
    keepAlive: config.engine.keepAlive,
    onUnasked: tellUnasked('forward target', metrics, log),
  });
  down.add('upstream', () => upstream?.close());
  const store = await openAwaited(config, log, () =>
    openStore(config.store, {
      log,
      clock,
      ...config.storeOptions,
      historyDays: config.history.days,
      tends: true,
      events: config.events?.rules,
      others: plugins.stores,
      onCreated: newStoreLine(log, onNewStore),
      onRevocationsRestored: (count) => metrics.revocationsRestored(count),
    }),
  );
  down.add('store', () => store.close());
  const probe = new StoreProbe({ store, shown: withoutCredentials(config.store), now: monotonicMs, log });
  down.add('store probe', () => probe.close());
  metrics.gauge('store_up', () => Number(probe.answers));
  metrics.gauge('store_writable', () => Number(probe.takesWrites));
  const { can, protocol } = settings;
  return { config, output, down, metrics, plugins, store, engine, can, protocol, forward, upstream, probe };
}

export function newStoreLine(log: Log, onNewStore: OnNewStore): (place: string) => void {
  return (place) => {
    log.info('a new database was made', { store: place });
    onNewStore?.(place);
  };
}

function openEngineOf(
  { engine, limits }: Config,
  { protocol, options, headers }: EngineSettings,
  metrics: Metrics,
  log: Log,
  watch: (url: string) => ReplicaWatch,
): ReplicatedEngine {
  return openEngine({
    ...engine,
    teamShare: limits.teamEngineShare,
    protocol,
    options,
    headers,
    watch,
    onBatch: (requests) => metrics.engineBatch(requests),
    onUnasked: tellUnasked('engine', metrics, log),
    onTokens: (tokens) => metrics.engineTokens(tokens),
  });
}

/** One line when such a state begins; each time is counted. */
function tellUnasked(who: string, metrics: Metrics, log: Log): (replica: string, begins: boolean) => void {
  const message = `${who} sent bytes that nobody had asked for: each request to it has a new connection until a minute has passed without`;
  return (replica, begins) => {
    metrics.engineUnasked();
    if (begins) log.warn(message, { replica });
  };
}
