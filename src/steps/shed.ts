// Sheds requests, before any work is done for them, while too many are in flight in this process or its event loop is late.
import { reserveSlot } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { HeadStep } from '../core/step.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import type { OnShed, Pressure } from '../ports/pressure.ts';

export interface ShedOptions {
  /** Maximum number of complete requests by known callers in flight in this process. */
  readonly concurrencyMax: number;
  readonly pressure: Pressure;
  readonly onShed: OnShed;
}

const placeSlot = reserveSlot<true>('place in the process');

/** Only complete requests by known callers count, so that unknown keys and bodies that never end cannot use up the limit. */
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
      // Also called for requests that were shed or ended before they were complete, and so were not counted.
      if (x.get(placeSlot) !== undefined) taken--;
    },
  };
}
