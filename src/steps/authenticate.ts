// Looks up whose key it is, when it was not seen before.
import type { Exchange } from '../core/exchange.ts';
import type { Outcome } from '../core/outcome.ts';
import type { BodyStep } from '../core/step.ts';
import { keyDigestSlot, keyOwnerSlot, requestStatsSlot } from '../domain/slots.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import type { KeyDirectory, KeyOwner, StoreUnavailable } from '../ports/key-directory.ts';

/** `now` is a monotonic clock in milliseconds. */
export function authenticateStep(directory: KeyDirectory, now: () => number): BodyStep {
  return {
    kind: 'body',
    name: 'authenticate',
    run(x) {
      if (x.get(keyOwnerSlot) !== undefined) return undefined;
      const startedAtMs = now();
      const found = directory.find(x.need(keyDigestSlot));
      if (!(found instanceof Promise)) return recognise(x, found);
      return found.then((answer) => {
        x.need(requestStatsSlot).storeMs += now() - startedAtMs;
        return recognise(x, answer);
      });
    },
  };
}

function recognise(x: Exchange, found: KeyOwner | undefined | StoreUnavailable): Outcome | undefined {
  if (found === undefined) return UNKNOWN_KEY;
  if ('kind' in found) return STORE_UNAVAILABLE;
  x.set(keyOwnerSlot, found);
  return undefined;
}
