// Drains the public side: stops accepting, lets requests in flight finish, closes idle connections politely, and only then cuts
// the rest.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../core/gateway.ts';
import type { Listener } from './listener.ts';

interface DrainOptions {
  readonly listener: Listener;
  readonly gateway: Gateway;
  /** Whatever is in flight after this time is cut. */
  readonly deadlineMs: number;
  /**
   * The remaining connections are cut after this long without activity (default 1000). HTTP cannot announce the end of an idle
   * connection, and a request sent just then would be lost. So every connection may send one more request, which is answered
   * with `Connection: close`; only connections that stay silent for this long are cut.
   */
  readonly quietMs?: number;
}

/** How often activity is checked. */
const TICK_MS = 20;
/** How long cut requests may take to end, so that they can be settled. */
const CALL_OFF_MS = 1000;

/** Resolves with the number of requests that had to be cut; 0 if all were answered. */
export async function drain({ listener, gateway, deadlineMs, quietMs = 1000 }: DrainOptions): Promise<number> {
  listener.stopAccepting();
  listener.beginLastAnswers();
  const ending = new AbortController();
  const { signal } = ending;
  const deadline = delay(deadlineMs, undefined, { signal }).catch(() => undefined);
  await Promise.race([lastWords(listener, gateway, quietMs, signal), deadline]);
  ending.abort();
  const cut = gateway.inFlight;
  listener.close();
  // Closed connections are reported in the next turn, which cancels their requests.
  await nextTurn();
  await Promise.race([gateway.idle(), delay(CALL_OFF_MS, undefined, { ref: false })]);
  return cut;
}

/** Resolves when all connections have received a last answer and closed, which is the normal case, or when the rest stay silent. */
async function lastWords(listener: Listener, gateway: Gateway, quietMs: number, signal: AbortSignal): Promise<void> {
  let open = listener.connections;
  let leftMs = quietMs;
  while (!signal.aborted) {
    await gateway.idle();
    const before = open;
    open = listener.connections;
    if (open === 0) return;
    // While draining, every answer closes its connection, so activity shows as a changed number of connections.
    if (open !== before || listener.unsent > 0) leftMs = quietMs;
    else if (leftMs <= 0) return;
    await delay(TICK_MS);
    leftMs -= TICK_MS;
  }
}
