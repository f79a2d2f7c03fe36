// The whole gateway in one process: the public side, the operator's side, reload and stop.
import type { Config } from '../config/config.ts';
import { reloadOf } from '../config/changes.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { Teardown } from '../core/teardown.ts';
import { publicUrl, serverUrlOf } from './api-description.ts';
import { openOperators, readOperators } from './admin-side.ts';
import { openWaitingListener, startOperatorSide } from './operator-side.ts';
import type { AppOptions } from './operator-side.ts';
import { openJsonLog } from '../ops/json-log.ts';
import type { JsonLog } from '../ops/json-log.ts';
import type { Log } from '../ports/log.ts';
import { ONLY_PROCESS } from './configured-telemetry.ts';
import { openServing } from './serving.ts';
import { announceReady } from './ready-line.ts';
import { withUsableTls } from './certificate.ts';
import { stopWithinMs } from './until-stopped.ts';
import { openEvents, openPlanCheck, openTeamWatch } from './once-per-gateway.ts';

export { startDemoEngine } from '../demo/demo-engine.ts';

/** A running gateway. */
export interface App {
  readonly listen: NetworkAddress;
  readonly ops: NetworkAddress;
  readonly listenUrl: string;
  readonly opsUrl: string;
  readonly log: Log;
  /** The configuration in force. */
  readonly config: Config;
  /** See `Stoppable`. */
  readonly stopWithinMs: number;
  readonly closing: string | undefined;
  flush(): void;
  /**
   * Applies the members that may change without a restart, and returns the names of changed members that need one. Throws, and
   * changes nothing, if the configuration cannot be applied.
   */
  reload(next: Config): readonly string[];
  /** Refuses new connections, lets requests in flight finish, settles them, closes everything. Runs once. */
  stop(): Promise<void>;
}

/** Rejects with a `ConfigError`, `StoreError` or `ListenError`, each with a message for operators. */
export async function startApp(config: Config, options: AppOptions = {}): Promise<App> {
  const output = openJsonLog(options.logDestination);
  const down = teardownOf(output);
  try {
    return await start(config, options, output, down);
  } catch (error) {
    await down.run();
    output.flush();
    throw error;
  }
}

async function start(config: Config, { docsOnOps = false, onNewStore }: AppOptions, output: JsonLog, down: Teardown): Promise<App> {
  const { log } = output;
  let running = config;
  const listener = await openWaitingListener(config, log);
  // If the operator's side opens, it closes this too.
  down.add('early ops listener', () => listener?.close());
  const serving = await openServing(config, output, down, ONLY_PROCESS, onNewStore);
  const { store, nowMs } = serving;
  // Checked with everything else before anything is opened.
  const operators = await openOperators(config);
  const operator = await startOperatorSide({
    config: () => running,
    readiness: () => serving.readiness(),
    metrics: serving.metrics,
    admin:
      operators === undefined
        ? undefined
        : {
            ...operators,
            store,
            refusals: serving.refusals,
            nowMs,
            processes: async () => ({ expected: 1, states: [serving.state()] }),
            recentRequests: async () => serving.recentRequests(),
            onChange: () => serving.teamsChanged(),
          },
    docsOnOps,
    pluginApis: serving.pluginApis,
    log,
    listener,
  });
  down.add('ops listener', () => operator.close());
  const watch = openTeamWatch(config, { store, nowMs }, log);
  if (watch !== undefined) {
    serving.metrics.teams(watch);
    down.add('team watch', () => watch.close());
  }
  const events = openEvents(config, { store, nowMs }, log);
  if (events !== undefined) {
    serving.metrics.events(events.counts);
    down.add('events', () => events.close());
  }
  const listen = await serving.listen({ docsUrl: operator.docsUrl, port: config.listen.port, exclusive: true });
  const listenUrl = publicUrl(config, listen);
  operator.serverUrl = serverUrlOf(config, listen);
  const planCheck = openPlanCheck(store.teams, log);
  planCheck.check(config.plans);
  announceReady(log, config, { listenUrl, opsUrl: operator.url, listening: listen, workers: 1 });
  return {
    listen,
    ops: operator.address,
    listenUrl,
    opsUrl: operator.url,
    log,
    get config() {
      return running;
    },
    stopWithinMs: stopWithinMs(config.limits),
    get closing() {
      return down.closing;
    },
    flush: () => output.flush(),
    reload(next) {
      const replaceOperators = readOperators(operators, next);
      const { config: applied, waiting } = reloadOf(running, next);
      const usable = withUsableTls(running, applied, log);
      serving.replace(usable);
      replaceOperators();
      running = usable;
      planCheck.check(usable.plans);
      return waiting;
    },
    async stop() {
      await down.run();
      log.info('lingate has stopped');
      output.flush();
    },
  };
}

/** Parts that do not close are named in the log; the others are closed all the same. */
export function teardownOf({ log }: JsonLog): Teardown {
  return new Teardown((part, error) => log.error('closing failed', { part, reason: error instanceof Error ? error.message : 'unknown' }));
}
