// Measures how long this process could not run: on busy cores, the part of a delay that is the machine's.
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a step of a few milliseconds may take if nothing else is in its way. */
export const MOMENT_MS = 100;

interface Stalls {
  /** The longest so far, in whole milliseconds. */
  longestMs(): number;
  /** How long a short step may have taken here: it passes several processes that may have to wait. */
  momentMs(): number;
  stop(): void;
}

export function watchStalls(): Stalls {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  const longestMs = () => Math.ceil(histogram.max / 1e6);
  return { longestMs, momentMs: () => MOMENT_MS + 3 * longestMs(), stop: () => void histogram.disable() };
}
