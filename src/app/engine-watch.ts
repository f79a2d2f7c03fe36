// Reports on each engine replica: attempts as metrics, failures and setting aside in the log.
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
  readonly metrics: Metrics;
  readonly log: Log;
  readonly failures: FailureLog;
}

export function replicaWatch({ engine, protocol, metrics, log, failures }: EngineWatchParts, replica: string): ReplicaWatch {
  return {
    attempted: metrics.engine(engine).replica(replica),
    failed(work, detail) {
      failures.failed(engine, replica, detail.failure, work.requestId, {
        engine,
        replica,
        protocol,
        pair: pairOf(work),
        ...wordsOf(detail),
      });
    },
    setAside(detail, forMs) {
      log.warn('engine replica set aside', { engine, replica, ...wordsOf(detail), seconds: Math.round(forMs / 100) / 10 });
    },
    back: () => log.info('engine replica is back', { engine, replica }),
  };
}

/** Only the known members of the detail; unknown ones are left out of the line. */
function wordsOf({ failure, status, cause, thrown }: FailureDetail) {
  return {
    failure,
    ...(status === undefined ? {} : { status }),
    ...(cause === undefined ? {} : { cause }),
    ...(thrown === undefined ? {} : { thrown: placeOf(thrown) }),
  };
}

/** As written in `engine.pairs` and `routing`; `*` is a source that the caller did not name. */
function pairOf({ options }: EngineWork): string {
  return `${options.sourceLang ?? '*'}-${options.targetLang}`;
}
