// An engine that answers at once, late, never, after it was aborted, or with nothing usable, but keeps to its deadlines.
import type { Cancellation } from '../../../src/core/exchange.ts';
import { ONLY_ENGINE } from '../../../src/domain/engine-routing.ts';
import { Batches } from '../../../src/engines/batch.ts';
import type { Attempts } from '../../../src/engines/batch.ts';
import type { Replica } from '../../../src/engines/replica.ts';
import type { Attempt, AttemptFailure, EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import type { TranslateOptions } from '../../../src/steps/translate.ts';
import type { World } from './world.ts';

/** Small, so that some calls are full, and some works too long to share one. */
const TEXTS_MAX = 6;
const CHARACTERS_MAX = 60;
const FAILURES = ['connect', 'reset', 'timeout', 'status', 'wrong_shape'] as const;
/** Only a balancer would read it. */
const REPLICA = {} as Replica;

export function simulatedEngine(world: World): TranslateOptions['engine'] {
  const attempts = simulatedAttempts(world);
  const rest = { isFailing: () => false, cannotDetect: () => false, takesGlossary: () => true };
  const { batchWaitMs: waitMs } = world.scenario;
  if (waitMs === undefined) return { ...rest, translate: (asked, cancellation) => attempts.alone(asked, cancellation) };
  const batches = new Batches(attempts, { texts_max: TEXTS_MAX, characters_max: CHARACTERS_MAX, wait_ms: waitMs }, (requests) => {
    world.batches++;
    world.note(world.time.current, `${requests} requests share a call`);
  });
  return { ...rest, translate: (asked, cancellation) => batches.translate(asked, cancellation) };
}

/** Two attempts, each within the timeout: what the pool guarantees of every adapter. */
function simulatedAttempts(world: World): Attempts {
  const attempt = (work: EngineWork, cancellation: Cancellation) => attemptOf(world, work, cancellation);
  const second = async (work: EngineWork, cancellation: Cancellation, failure: AttemptFailure): Promise<EngineResult> => {
    if (cancellation.cancelled) return { kind: 'unavailable', failures: [failure] };
    const again = await attempt(work, cancellation);
    return again.kind === 'usable'
      ? { ...again, failures: [failure], engine: ONLY_ENGINE }
      : { kind: 'unavailable', failures: [failure, again.failure] };
  };
  const both = async (work: EngineWork, cancellation: Cancellation): Promise<EngineResult> => {
    const first = await attempt(work, cancellation);
    return first.kind === 'usable' ? { ...first, failures: [], engine: ONLY_ENGINE } : second(work, cancellation, first.failure);
  };
  const translate = (work: EngineWork, cancellation: Cancellation): EngineResult | Promise<EngineResult> => {
    if (cancellation.cancelled) return { kind: 'unavailable', failures: [] };
    return world.random.chance(0.05) ? { ...usable(work), failures: [], engine: ONLY_ENGINE } : both(work, cancellation);
  };
  return {
    name: ONLY_ENGINE,
    first: (work, cancellation, done) => tell(attempt(work, cancellation), (first) => done(first, REPLICA, true)),
    second: (asked, cancellation, { failure }) => tell(second(asked, cancellation, failure), (result) => asked.answered(result)),
    alone: (asked, cancellation) => tell(translate(asked, cancellation), (result) => asked.answered(result)),
  };
}

/** Nothing here rejects. */
function tell<Told>(told: Told | Promise<Told>, done: (told: Told) => void): void {
  void (async () => done(await told))();
}

function attemptOf(world: World, work: EngineWork, cancellation: Cancellation): Promise<Attempt> {
  const { random, scenario, time } = world;
  const process = time.current;
  return new Promise((resolve) => {
    let ended = false;
    const end = (attempt: Attempt): void => {
      if (ended) return;
      ended = true;
      cancellation.onCancel(undefined);
      resolve(attempt);
    };
    const result: Attempt = random.chance(0.25) ? { kind: 'unusable', failure: random.pick(FAILURES) } : usable(work);
    const late = result.kind === 'unusable' && result.failure === 'timeout';
    const takesMs = late ? scenario.engineTimeoutMs : Math.min(random.latencyMs(scenario.engineLatencyMs), scenario.engineTimeoutMs);
    time.after(process, takesMs, () => end(result));
    // A result may still arrive after the call was aborted.
    cancellation.onCancel(() => {
      const called: Attempt = random.chance(0.3) ? usable(work) : { kind: 'unusable', failure: 'cancelled' };
      time.after(process, random.pick([0, 0.5, 100]), () => end(called));
    });
  });
}

function usable(work: EngineWork): Attempt & { readonly kind: 'usable' } {
  const translations = work.text.map((text) => ({ text: text.toUpperCase(), detectedSourceLanguage: undefined }));
  return { kind: 'usable', translations };
}
