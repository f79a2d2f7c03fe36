// Tries the engines before any caller does: a replica that cannot be reached is one line with what to do, and shows in metrics,
// console and readiness. Engines that report their pairs are tried by that question instead (`runtime/engine-pairs.ts`).
import { adviceFor } from '../docs/engine-advice.ts';
import type { FailureDetail, ReplicaTrial } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';

export interface TriedEngine {
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
      log.warn('an engine replica cannot be reached: requests to it will fail', { engine, replica: url, ...wordsOf(failure) });
    }
  }
}

function wordsOf(detail: FailureDetail) {
  const { failure, status, cause } = detail;
  return { failure, status, cause, advice: adviceFor(detail) };
}

function laterBy(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
