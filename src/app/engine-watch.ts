// Reports on each engine replica: attempts as metrics, failures and setting aside in the log. Tries
// the engines before any caller does; those that report their pairs are tried by that question
// (`runtime/offered-languages.ts`).
import { MalformedAttempt } from '../engines/attempt.ts';
import type { Balancer } from '../engines/balancer.ts';
import type { ReplicaWatch } from '../engines/replica.ts';
import { placeOf } from '../core/error-place.ts';
import type { EngineMetrics } from '../ops/metrics/gateway-metrics.ts';
import type { EngineWork, FailureDetail, ReplicaTrial } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { FailureLog } from '../runtime/failure-log.ts';
import { adviceFor } from '../docs/engine-advice.ts';

/** Where reports on an engine's replicas go. */
export interface EngineWatchParts {
  readonly engine: string;
  readonly protocol: string;
  /** That of the plugin with the protocol's adapter; `undefined` for our own. */
  readonly module?: string | undefined;
  readonly metrics: EngineMetrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

export function replicaWatch({ engine, protocol, module, metrics, log, failures }: EngineWatchParts, replica: string): ReplicaWatch {
  return {
    attempted: metrics.replica(replica),
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

/** While none of an engine's replicas works. */
const AGAIN_MS = 60_000;

/** Tries all engines at once, in the background, and again those that do not work. */
export function tryEngines(engines: ReadonlyMap<string, Balancer>, log: Log) {
  /** What was logged of a replica that cannot be reached, by engine and URL. */
  const logged = new Map<string, string>();
  const waiting = new Map<string, NodeJS.Timeout>();
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
    if (closed) return;
    clearTimeout(waiting.get(name));
    for (const trial of trials) report(name, trial);
    // By a trial or by a request.
    const works = (): boolean => engine.health().some(({ reached }) => reached !== false);
    if (works()) return;
    waiting.set(name, setTimeout(() => void (works() || tryOne(name, engine)), AGAIN_MS).unref());
  };
  /** Also for a reload, which may have changed their URLs. */
  const tryAll = (): void => {
    for (const [name, engine] of engines) void tryOne(name, engine);
  };
  tryAll();
  return {
    tryAll,
    close() {
      closed = true;
      for (const timer of waiting.values()) clearTimeout(timer);
    },
  };
}
