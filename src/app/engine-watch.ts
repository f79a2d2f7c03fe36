// Opens the engines, and reports on each replica: attempts as metrics, failures and setting aside in
// the log. Tries the engines before any caller does; those that report their pairs are tried by that
// question (`runtime/offered-languages.ts`).
import type { Config } from '../config/config.ts';
import { placeOf } from '../core/error-place.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { countCharacters } from '../domain/characters.ts';
import { MalformedAttempt } from '../engines/attempt.ts';
import { Engines } from '../engines/balancer.ts';
import type { Balancer } from '../engines/balancer.ts';
import type { ReplicaWatch } from '../engines/replica.ts';
import { engineMetrics } from '../ops/metrics/gateway-metrics.ts';
import type { EngineMetrics } from '../ops/metrics/gateway-metrics.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { EngineWork, FailureDetail, ReplicaTrial } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import { EngineCaps } from '../runtime/engine-caps.ts';
import type { FailureLog } from '../runtime/failure-log.ts';
import type { OfferedByConfig } from '../runtime/offered-languages.ts';
import { Rounds } from '../runtime/rounds.ts';
import { pairsOf } from './engine-settings.ts';
import type { EngineSettings } from './engine-settings.ts';
import { monotonicMs } from './until-stopped.ts';

/** Where reports on engines go. */
interface EngineReports {
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

/** `modules`: of plugins' protocols, by protocol. */
export function openWatchedEngines(
  config: Config,
  settings: readonly EngineSettings[],
  modules: ReadonlyMap<string, string>,
  reports: EngineReports,
) {
  const { metrics, log } = reports;
  const limited = config.engines.flatMap(({ name, characters: cap }) => (cap === undefined ? [] : [[name, cap] as const]));
  const caps = new EngineCaps({ caps: new Map(limited), reports: config.events !== undefined, log, now: monotonicMs });
  const engines = new Engines(
    settings.map((one) => {
      const { protocol, can, options, headers, config: engine } = one;
      const { name, characters: cap } = engine;
      const meters = engineMetrics(metrics, name);
      return {
        ...engine,
        can,
        teamShare: config.limits.team_engine_share,
        onSent:
          cap &&
          ((texts) =>
            caps.count(
              name,
              texts.reduce((sum, text) => sum + countCharacters(text), 0),
            )),
        onFileSent: cap && ((characters) => caps.countFile(name, characters)),
        protocol,
        options,
        headers,
        watch: (url) => replicaWatch(one, url, meters, modules.get(engine.protocol), reports),
        onBatch: meters.batch,
        onSecond: meters.second,
        onUnasked: tellUnasked(meters.unasked, log),
        onTokens: meters.tokens,
      };
    }),
  );
  measure(metrics, engines, caps);
  return { engines, caps };
}

function measure(metrics: Metrics, { byName }: Engines, caps: EngineCaps): void {
  metrics.read('engine_limit_reached', () => caps.states().map(({ engine, reached }) => [{ engine }, Number(reached)]));
  metrics.read('engine_replica_up', () =>
    [...byName].flatMap(([engine, one]) =>
      one.health().map(({ url, asideMs, reached }) => [{ engine, replica: url }, Number(asideMs === undefined && reached !== false)]),
    ),
  );
  metrics.read('engine_calls_in_flight', () => [...byName].map(([engine, one]) => [{ engine }, one.load().inFlight]));
  metrics.read('engine_calls_waiting', () => [...byName].map(([engine, one]) => [{ engine }, one.load().waiting]));
}

/** Logs one line when this state begins; counts every occurrence. */
function tellUnasked(count: () => void, log: Log): (replica: string, begins: boolean) => void {
  return (replica, begins) => {
    count();
    if (begins)
      log.warn('engine sent unexpected bytes: each request to it gets a new connection until a minute has passed without any', { replica });
  };
}

/** `module`: that of the plugin with the protocol's adapter; `undefined` for our own. */
function replicaWatch(
  { config: { name: engine, protocol } }: EngineSettings,
  replica: string,
  meters: EngineMetrics,
  module: string | undefined,
  { log, failures }: EngineReports,
): ReplicaWatch {
  return {
    attempted: meters.replica(replica),
    failed(work, detail) {
      failures.failed(engine, replica, detail.failure, work.requestId, {
        engine,
        replica,
        protocol,
        pair: pairOf(work),
        ...wordsOf(detail, module),
      });
    },
    setAside(detail, forMs) {
      log.warn('engine replica set aside', { engine, replica, ...wordsOf(detail, module), seconds: Math.round(forMs / 100) / 10 });
    },
    back: () => log.info('engine replica is back', { engine, replica }),
  };
}

/** Only the known members of the detail; unknown ones are left out of the line. */
function wordsOf({ failure, status, cause, thrown }: FailureDetail, module: string | undefined) {
  return {
    failure,
    status,
    cause,
    thrown: thrown === undefined ? undefined : bugOf(thrown, module),
  };
}

/** A malformed result has no place in the adapter's code, so its module is named. */
function bugOf(thrown: unknown, module: string | undefined): string {
  if (!(thrown instanceof MalformedAttempt)) return placeOf(thrown);
  return `${thrown.name} (${thrown.message})${module === undefined ? '' : ` of ${module}`}`;
}

/** As written in `engine.pairs` and `routing`; `*` is a source that the caller did not name. */
function pairOf({ options }: EngineWork): string {
  return `${options.sourceLang ?? '*'}-${options.targetLang}`;
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

/** While none of an engine's replicas works. */
const AGAIN_MS = 60_000;

/**
 * Tries all engines at once, in the background, and again those that do not work; not those that are
 * asked for their pairs anyway.
 */
export function tryEngines({ byName }: Engines, pairs: OfferedByConfig['pairs'], log: Log) {
  const engines = [...byName].filter(([name, engine]) => pairs.get(name) !== 'ask' || engine.askPairs === undefined);
  /** What was logged of a replica that cannot be reached, by engine and URL. */
  const logged = new Map<string, string>();
  let closed = false;
  const report = (engine: string, { url, failure }: ReplicaTrial): void => {
    const name = `${engine} ${url}`;
    if (failure === undefined) {
      if (logged.delete(name)) log.info('an engine replica can be reached again', { engine, replica: url });
      return;
    }
    const { failure: word, status, cause } = failure;
    if (logged.get(name) === `${word}:${cause}`) return;
    logged.set(name, `${word}:${cause}`);
    const found = { engine, replica: url, failure: word, status, cause, advice: adviceFor(failure) };
    log.warn('an engine replica cannot be reached: requests to it will fail', found);
  };
  const tryOne = async (name: string, engine: Balancer): Promise<void> => {
    const trials = await engine.tryAll();
    if (!closed) for (const trial of trials) report(name, trial);
  };
  // Found by a trial or by a request.
  const isDown = (engine: Balancer): boolean => engine.health().every(({ reached }) => reached === false);
  const again = new Rounds(AGAIN_MS, () => Promise.all(engines.filter(([, engine]) => isDown(engine)).map((one) => tryOne(...one))));
  /** Also for a reload, which may have changed their URLs. */
  const tryAll = (): void => {
    for (const [name, engine] of engines) void tryOne(name, engine);
  };
  tryAll();
  return {
    tryAll,
    close() {
      closed = true;
      void again.close();
    },
  };
}
