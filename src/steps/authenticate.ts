// Looks up whose key it is, when it was not seen before.
import type { Exchange } from '../core/exchange.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import { keyDigestSlot, keyOwnerSlot, requestStatsSlot } from '../domain/slots.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyDirectory, KeyOwner, UnknownKeyLimit } from '../ports/key-directory.ts';

/** A bound on the unknown keys of one address, and how a request's address is read. */
export interface AddressBound {
  readonly limit: UnknownKeyLimit;
  readonly client: ClientAddressReader;
}

export interface AuthenticateOptions {
  readonly directory: KeyDirectory;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** `undefined`: addresses may send as many unknown keys as they like. */
  readonly bound?: AddressBound | undefined;
}

/** 503, not 401: among the keys of such an address there may be a good one that this process has not seen yet. */
const TOO_MANY_UNKNOWN = refuse('service_unavailable', 'Too many unknown keys came from this address within a minute; try again later.');

export function authenticateStep({ directory, now, bound }: AuthenticateOptions): BodyStep {
  return {
    kind: 'body',
    name: 'authenticate',
    ...(bound === undefined ? {} : { headers: bound.client.headers }),
    run(x) {
      if (x.get(keyOwnerSlot) !== undefined) return undefined;
      if (bound?.limit.reached(bound.client.read(x.head.headers)) === true) return TOO_MANY_UNKNOWN;
      const startedAtMs = now();
      const found = directory.find(x.need(keyDigestSlot));
      if (!(found instanceof Promise)) return recognise(x, found, bound);
      return found.then((answer) => {
        x.need(requestStatsSlot).storeMs += now() - startedAtMs;
        return recognise(x, answer, bound);
      });
    },
  };
}

function recognise(x: Exchange, found: KeyOwner | undefined | StoreUnavailable, bound: AddressBound | undefined): Outcome | undefined {
  if (found === undefined) {
    bound?.limit.add(bound.client.read(x.head.headers));
    return UNKNOWN_KEY;
  }
  if ('kind' in found) return STORE_UNAVAILABLE;
  x.set(keyOwnerSlot, found);
  return undefined;
}
