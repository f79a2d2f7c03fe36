// Turns requests away, before anything is done for them, while too many are under way in this process or its event loop runs late.
import { reserveSlot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { HeadStep } from '../core/step.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import type { OnShed, Pressure } from '../ports/pressure.ts';

export interface ShedOptions {
  /** Requests under way in this process: their callers are known, and they have been received completely. */
  readonly concurrencyMax: number;
  readonly pressure: Pressure;
  readonly onShed: OnShed;
}

const placeSlot = reserveSlot<true>('place in the process');

/**
 * A place is taken only by a complete request of somebody who is known: keys that nobody has, and bodies that never end, cannot
 * use them up.
 */
export function shedStep({ concurrencyMax, pressure, onShed }: ShedOptions): HeadStep {
  let taken = 0;
  const full = (): Refusal | undefined => {
    if (taken < concurrencyMax) return undefined;
    onShed('concurrency');
    return OVERLOADED;
  };
  return {
    kind: 'head',
    name: 'shed',
    run() {
      const refused = full();
      if (refused !== undefined) return refused;
      if (!pressure.overloaded()) return undefined;
      onShed('loop_delay');
      return OVERLOADED;
    },
    enter(x) {
      const refused = full();
      if (refused !== undefined) return refused;
      taken++;
      x.set(placeSlot, true);
      return undefined;
    },
    settle(x) {
      // Also called for requests that were turned away, or ended before they were complete, which have no place to give back.
      if (x.get(placeSlot) !== undefined) taken--;
    },
  };
}
