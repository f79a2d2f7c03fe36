// Reports on each engine replica: attempts as metrics, failures and setting aside in the log. Tries the engines before any caller
// does; those that report their pairs are tried by that question instead (`runtime/offered-languages.ts`).
import { MalformedAttempt } from '../engines/attempt-judgement.ts';
import type { ReplicaWatch } from '../engines/replica.ts';
import { placeOf } from '../core/error-place.ts';
import type { EngineMetrics } from '../ops/metrics/engine-metrics.ts';
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

interface TriedEngine {
  readonly name: string;
  /** Tries every replica; never rejects. */
  readonly tryAll: () => Promise<readonly ReplicaTrial[]>;
  /** Whether a replica was reached when it was last tried, by a trial or by a request. */
  readonly works: () => boolean;
}

interface EngineTrialsOptions {
  readonly engines: readonly TriedEngine[];
  readonly log: Log;
  /** Schedules a callback and returns a function that cancels it; replaced in tests. */
  readonly later?: ((run: () => void, ms: number) => () => void) | undefined;
}

/** While none of an engine's replicas works. */
const AGAIN_MS = 60_000;

export class EngineTrials {
  readonly #options: EngineTrialsOptions;
  readonly #later: (run: () => void, ms: number) => () => void;
  /** What was logged of a replica that cannot be reached, by engine and URL. */
  readonly #logged = new Map<string, string>();
  readonly #waiting = new Map<string, () => void>();
  #closed = false;

  /** Tries all at once, in the background. */
  constructor(options: EngineTrialsOptions) {
    this.#options = options;
    this.#later = options.later ?? laterBy;
    this.tryAgain();
  }

  /** Tries every engine, because it is the start or because a reload may have changed their URLs. */
  tryAgain(): void {
    for (const engine of this.#options.engines) void this.#try(engine);
  }

  close(): void {
    this.#closed = true;
    for (const callOff of this.#waiting.values()) callOff();
  }

  async #try(engine: TriedEngine): Promise<void> {
    const trials = await engine.tryAll();
    if (this.#closed) return;
    this.#waiting.get(engine.name)?.();
    for (const trial of trials) this.#report(engine.name, trial);
    if (engine.works()) return;
    this.#waiting.set(
      engine.name,
      this.#later(() => void (engine.works() || this.#try(engine)), AGAIN_MS),
    );
  }

  #report(engine: string, { url, failure }: ReplicaTrial): void {
    const { log } = this.#options;
    const name = `${engine} ${url}`;
    const word = failure && `${failure.failure}:${failure.cause}`;
    if (failure === undefined) {
      if (this.#logged.delete(name)) log.info('an engine replica can be reached again', { engine, replica: url });
    } else if (this.#logged.get(name) !== word) {
      this.#logged.set(name, word!);
      const { status, cause } = failure;
      const advice = adviceFor(failure);
      log.warn('an engine replica cannot be reached: requests to it will fail', {
        engine,
        replica: url,
        failure: failure.failure,
        status,
        cause,
        advice,
      });
    }
  }
}

function laterBy(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
