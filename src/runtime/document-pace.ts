// How fast work on documents goes on: what is interactive goes first.

interface PaceOptions {
  /** Requests in flight in this process. */
  readonly inFlight: () => number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Resolves after so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

/** A pause before each step, so that documents without end leave time between their steps, however fast the engine is. */
const STEP_MS = 10;
/** A pause that ends so much too late found the event loop, or the machine, busy. */
const LATE_MS = 10;
/** Engines are busy with texts. */
const IN_FLIGHT = 16;
/** A step does not wait for longer, so that a document is done some time. */
const WAIT_MS_MAX = 2000;

/** Waits before a step while other work goes first; `isWanted` ends it. */
export async function letTextsGoFirst(isWanted: () => boolean, { inFlight, now, pause }: PaceOptions): Promise<void> {
  const untilMs = now() + WAIT_MS_MAX;
  let isBusy = true;
  while (isBusy && isWanted()) {
    const beganAtMs = now();
    if (beganAtMs >= untilMs) return;
    await pause(STEP_MS);
    isBusy = now() - beganAtMs >= STEP_MS + LATE_MS || inFlight() >= IN_FLIGHT;
  }
}
