// An engine that answers at once, late, never, after it was called off, or with nothing usable, but keeps to its deadlines.
import type { AttemptFailure, Engine, EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import type { World } from './world.ts';

/** Two attempts, each within the timeout: what the pool guarantees of every adapter. */
export function simulatedEngine(world: World): Engine {
  const { random, scenario, time } = world;
  return {
    close: () => Promise.resolve(),
    translate(work, cancellation) {
      if (cancellation.cancelled) return { kind: 'unavailable', failures: [] };
      if (random.chance(0.05)) return usable(work, []);
      const failures = drawFailures(world);
      const process = time.current;
      return new Promise<EngineResult>((resolve) => {
        let ended = false;
        const end = (result: EngineResult): void => {
          if (ended) return;
          ended = true;
          cancellation.onCancel(undefined);
          resolve(result);
        };
        const workedMs = random.latencyMs(scenario.engineLatencyMs);
        const slow = failures.includes('timeout') ? scenario.engineTimeoutMs * failures.length : 0;
        const takesMs = Math.min(workedMs + slow, 2 * scenario.engineTimeoutMs);
        const result = failures.length < 2 ? usable(work, failures) : ({ kind: 'unavailable', failures } as const);
        time.after(process, takesMs, () => end(result));
        // A result may still come after the call was called off.
        cancellation.onCancel(() => {
          const called: EngineResult = random.chance(0.3) ? usable(work, failures) : { kind: 'unavailable', failures: ['cancelled'] };
          time.after(process, random.pick([0, 0.5, 100]), () => end(called));
        });
      });
    },
  };
}

function drawFailures({ random }: World): AttemptFailure[] {
  const count = random.pick([0, 0, 0, 0, 0, 1, 2]);
  return Array.from({ length: count }, () => random.pick(['connect', 'reset', 'timeout', 'status', 'wrong_shape'] as const));
}

function usable(work: EngineWork, failures: readonly AttemptFailure[]): EngineResult {
  const translations = work.text.map((text) => ({ text: text.toUpperCase(), detectedSourceLanguage: undefined }));
  return { kind: 'usable', translations, failures };
}
