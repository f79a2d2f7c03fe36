// Reports on each engine replica: attempts as metrics, failures and setting aside in the log.
import { MalformedAttempt } from '../engines/attempt-judgement.ts';
import type { ReplicaWatch } from '../engines/replica.ts';
import { placeOf } from '../core/error-place.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { EngineWork, FailureDetail } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';
import type { FailureLog } from '../runtime/failure-log.ts';

/** Where reports on an engine's replicas go. */
export interface EngineWatchParts {
  readonly engine: string;
  readonly protocol: string;
  /** That of the plugin with the protocol's adapter; `undefined` for our own. */
  readonly module?: string | undefined;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

export function replicaWatch({ engine, protocol, module, metrics, log, failures }: EngineWatchParts, replica: string): ReplicaWatch {
  return {
    attempted: metrics.engine(engine).replica(replica),
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
