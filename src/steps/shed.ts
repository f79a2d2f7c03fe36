// Turns requests away, before anything is done for them, while too many are under way in this process or its event loop runs late.
import { reserveSlot } from '../core/exchange.ts';
import type { HeadStep } from '../core/step.ts';
import { OVERLOADED } from '../domain/refusals.ts';
import type { OnShed, Pressure } from '../ports/pressure.ts';

export interface ShedOptions {
  /** Requests under way in this process. */
  readonly concurrencyMax: number;
  readonly pressure: Pressure;
  readonly onShed: OnShed;
}

const placeSlot = reserveSlot<true>('place in the process');

export function shedStep({ concurrencyMax, pressure, onShed }: ShedOptions): HeadStep {
  let taken = 0;
  return {
    kind: 'head',
    name: 'shed',
    run(x) {
      if (taken >= concurrencyMax) {
        onShed('concurrency');
        return OVERLOADED;
      }
      if (pressure.overloaded()) {
        onShed('loop_delay');
        return OVERLOADED;
      }
      taken++;
      x.set(placeSlot, true);
      return undefined;
    },
    settle(x) {
      // Also called for the requests that were turned away here, which have no place to give back.
      if (x.get(placeSlot) !== undefined) taken--;
    },
  };
}
