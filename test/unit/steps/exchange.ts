// A request's exchange for tests of steps: of the key K of the team T, without a listener.
import { Exchange } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { keyOwnerSlot, NO_STATS, requestStatsSlot } from '../../../src/domain/slots.ts';

export const REQUEST_ID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const route = compileRoute({ method: 'POST', path: '/x', takesBody: true, steps: [] });

export function exchange(stats = { ...NO_STATS }): Exchange {
  const x = new Exchange(
    REQUEST_ID,
    { method: 'POST', path: '/x', query: '', headers: {} },
    { send: () => 'written', stream() {}, incoming: () => undefined, remoteAddress: () => '' },
    route,
    0,
  );
  x.set(keyOwnerSlot, { keyId: 'K', teamId: 'T', mode: 'live' });
  x.set(requestStatsSlot, stats);
  return x;
}
