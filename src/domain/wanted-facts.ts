// What the store needs of the requests of some keys besides the key: the client's address, the route's scope. Sent once it asks.
import type { Exchange } from '../core/exchange.ts';
import type { KeyOwner } from './api-key.ts';
import type { ClientAddressReader } from './client-address.ts';
import { CLOSED } from './scopes.ts';
import { clientAddressSlot, neededScopeSlot } from './slots.ts';

/** The hints of a cached key's owner. */
export type WantedFact = 'addressWanted' | 'scopeWanted';

/** As in the request to the store: absent if the key is not known to need it. */
export interface CarriedFacts {
  readonly address?: string | undefined;
  readonly scope?: string | undefined;
}

/** Reads what is known to be wanted. Call it before anything waits: the address is gone once the caller disconnects. */
export function readWanted(x: Exchange, owner: Pick<KeyOwner, WantedFact>, client: ClientAddressReader): void {
  if (owner.addressWanted === true) x.set(clientAddressSlot, client.of(x));
  if (owner.scopeWanted === true) x.set(neededScopeSlot, x.route.scope ?? CLOSED);
}

/** What to send in addition, after this answer to a request with these facts. */
export function wantedBy(kind: string, { address, scope }: CarriedFacts): WantedFact | undefined {
  if (kind === 'address_wanted' && address === undefined) return 'addressWanted';
  return kind === 'scope_wanted' && scope === undefined ? 'scopeWanted' : undefined;
}
