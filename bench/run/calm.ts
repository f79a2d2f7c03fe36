// Repeats a disturbed measurement: keeps the first calm one, or the calmest when time is up.
import { watchConditions } from '../machine/conditions.ts';
import type { Conditions } from '../machine/conditions.ts';

/** Above any of these, a measurement says more about the machine than about the contestant. */
const STOLEN_MAX = 0.03;
const OTHERS_MAX = 0.1;
const WAITED_MAX = 0.05;

interface Disturbance extends Conditions {
  /** Share of the time in which the gateway could have run but another process had its core. */
  readonly waited: number;
}

/** How often something was measured before it was kept, and how disturbed the kept one was. */
export interface Calmness {
  readonly disturbance: Disturbance;
  readonly isCalm: boolean;
  readonly tries: number;
}

/** How much of a run may be spent on repeats. */
export class Patience {
  readonly #triesMax: number;
  #leftMs: number;

  constructor(triesMax: number, msMax: number) {
    this.#triesMax = triesMax;
    this.#leftMs = msMax;
  }

  /** `measure` returns its result and how long the gateway had to wait for its core. */
  async calmest<T>(
    measure: () => Promise<{ readonly result: T; readonly waited: number }>,
  ): Promise<{ readonly result: T; readonly calmness: Calmness }> {
    let best: { result: T; disturbance: Disturbance } | undefined;
    for (let tries = 1; ; tries++) {
      const startedMs = performance.now();
      const conditions = watchConditions();
      const { result, waited } = await measure();
      const disturbance = { ...conditions(), waited };
      if (best === undefined || severity(disturbance) < severity(best.disturbance)) best = { result, disturbance };
      if (tries > 1) this.#leftMs -= performance.now() - startedMs;
      const isCalm = severity(best.disturbance) <= 1;
      if (isCalm || tries >= this.#triesMax || this.#leftMs <= 0) {
        return { result: best.result, calmness: { disturbance: best.disturbance, isCalm, tries } };
      }
    }
  }
}

/** At most 1 if nothing is over its limit. */
export function severity({ stolen, others, waited }: Disturbance): number {
  return Math.max(stolen / STOLEN_MAX, others / OTHERS_MAX, waited / WAITED_MAX);
}
