// Activity of this process in the last 15 minutes, in steps of five seconds: bounded memory, a few additions per request.
import type { AccessEntry, AccessLog } from '../ports/access-entry.ts';

export const LIVE_STEP_MS = 5000;
/** 15 minutes. */
export const LIVE_STEPS = 180;

/** Upper bounds of the duration buckets in ms, each a quarter larger than the previous: from 0.1 ms to over a minute. */
const BOUNDS = Array.from({ length: 62 }, (_, index) => 0.1 * 1.25 ** index);

/** One step, structured-cloneable so that several processes can be summed. */
export interface LiveStep {
  /** Wall clock, a multiple of `LIVE_STEP_MS`. */
  readonly atMs: number;
  /** By problem code, `ok`, `client_closed`. */
  readonly requests: Readonly<Record<string, number>>;
  /** The number of requests in each duration bucket, by index of its bound. */
  readonly durations: readonly number[];
  readonly characters: number;
  readonly engineFailures: number;
  readonly inFlight: number;
}

type MutableLiveStep = { -readonly [Name in Exclude<keyof LiveStep, 'requests' | 'durations'>]: number } & {
  readonly requests: Record<string, number>;
  readonly durations: number[];
};

export class LiveWindow implements AccessLog {
  readonly #nowMs: () => number;
  /** By step number modulo `LIVE_STEPS`; a step is created when something happens in it. */
  readonly #steps: (MutableLiveStep | undefined)[] = Array.from({ length: LIVE_STEPS }, () => undefined);
  #inFlight: { readonly size: number } = { size: 0 };
  #quietRoutes: ReadonlySet<string> = new Set();

  /** `nowMs` is the wall clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Sets where the number of requests in flight is read, and routes whose requests must not look like traffic. */
  watch(inFlight: { readonly size: number }, quietRoutes: ReadonlySet<string>): void {
    this.#inFlight = inFlight;
    this.#quietRoutes = quietRoutes;
  }

  /** Records a finished request. */
  record(entry: AccessEntry): void {
    if (this.#quietRoutes.has(entry.route)) return;
    const step = this.#step();
    step.requests[entry.code] = (step.requests[entry.code] ?? 0) + 1;
    let low = 0;
    for (let high = BOUNDS.length - 1; low < high;) {
      const middle = (low + high) >> 1;
      if (entry.durationMs <= BOUNDS[middle]!) high = middle;
      else low = middle + 1;
    }
    step.durations[low]!++;
    step.characters += entry.characters;
  }

  engineFailures(count: number): void {
    if (count > 0) this.#step().engineFailures += count;
  }

  /** Oldest first; only steps with activity, and the current one. */
  snapshot(): readonly LiveStep[] {
    const nowMs = this.#step().atMs;
    const oldestMs = nowMs - (LIVE_STEPS - 1) * LIVE_STEP_MS;
    const steps = this.#steps.filter((step): step is MutableLiveStep => step !== undefined && step.atMs >= oldestMs && step.atMs <= nowMs);
    return steps.toSorted((a, b) => a.atMs - b.atMs).map((step) => structuredClone(step));
  }

  #step(): MutableLiveStep {
    const atMs = Math.floor(this.#nowMs() / LIVE_STEP_MS) * LIVE_STEP_MS;
    const index = (atMs / LIVE_STEP_MS) % LIVE_STEPS;
    let step = this.#steps[index];
    if (step === undefined || step.atMs !== atMs) {
      step = emptyStep(atMs);
      this.#steps[index] = step;
    }
    // Peaks occur just before a request ends.
    step.inFlight = Math.max(step.inFlight, this.#inFlight.size);
    return step;
  }
}

/** Every step of the window, including empty ones, summed over processes; `nowMs` is the wall clock. */
export function addUp(windows: readonly (readonly LiveStep[])[], nowMs: number): readonly LiveStep[] {
  const newestMs = Math.floor(nowMs / LIVE_STEP_MS) * LIVE_STEP_MS;
  const sums = new Map<number, MutableLiveStep>();
  for (let back = LIVE_STEPS - 1; back >= 0; back--) {
    const atMs = newestMs - back * LIVE_STEP_MS;
    sums.set(atMs, emptyStep(atMs));
  }
  for (const step of windows.flat()) {
    const sum = sums.get(step.atMs);
    if (sum === undefined) continue;
    add(sum, step);
    sum.inFlight += step.inFlight;
  }
  return [...sums.values()];
}

/** Merges steps into spans of the wall clock, each with the span's start time and its highest `inFlight`. */
export function grouped(steps: readonly LiveStep[], spanMs: number): readonly LiveStep[] {
  const spans = Map.groupBy(steps, ({ atMs }) => Math.floor(atMs / spanMs) * spanMs);
  return [...spans].map(([atMs, members]) => ({ ...sumOf(members), atMs }));
}

/** Sums one or more steps, with the highest `inFlight` among them. */
export function sumOf(steps: readonly LiveStep[]): LiveStep {
  const sum = emptyStep(steps[0]!.atMs);
  for (const step of steps) {
    add(sum, step);
    sum.inFlight = Math.max(sum.inFlight, step.inFlight);
  }
  return sum;
}

/** The duration in ms that a given share of a step's requests did not exceed, up to a quarter too high; `null` without requests. */
export function quantileMs({ durations }: LiveStep, share: number): number | null {
  const all = durations.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let seen = 0;
  for (const [index, count] of durations.entries()) {
    seen += count;
    if (seen >= all * share) return Math.round(BOUNDS[index]! * 100) / 100;
  }
  return BOUNDS.at(-1)!;
}

const NO_DURATIONS: readonly number[] = BOUNDS.map(() => 0);

function emptyStep(atMs: number): MutableLiveStep {
  return { atMs, requests: {}, durations: [...NO_DURATIONS], characters: 0, engineFailures: 0, inFlight: 0 };
}

/** Adds everything but `inFlight`, which may be summed over processes but not over time. */
function add(sum: MutableLiveStep, step: LiveStep): void {
  for (const [code, count] of Object.entries(step.requests)) sum.requests[code] = (sum.requests[code] ?? 0) + count;
  for (const [index, count] of step.durations.entries()) sum.durations[index]! += count;
  sum.characters += step.characters;
  sum.engineFailures += step.engineFailures;
}
