// The way down of the public side: no new connections, what is in flight ends, idle callers are told, and only then is anything cut.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../core/gateway.ts';
import type { Listener } from './listener.ts';

export interface DrainOptions {
  readonly listeners: readonly Listener[];
  readonly gateway: Gateway;
  /** What is still in flight after so long is cut. */
  readonly deadlineMs: number;
  /**
   * For so long nothing at all must have happened before the connections that are left are cut. HTTP has no way to tell an
   * idle caller that its connection is about to go: a request that it sends just then is lost to it. So every connection
   * gets to send one more request, whose answer says `Connection: close`; only those that stay silent for this long are
   * cut, as any idle connection is at any time. Default 1000.
   */
  readonly quietMs?: number;
}

/** How often the quiet is looked at. */
const TICK_MS = 20;
/** How long requests that were cut may take to end, so that they can be settled. */
const CALL_OFF_MS = 1000;

/** Resolves with the number of requests that had to be cut; 0 when all were answered. */
export async function drain({ listeners, gateway, deadlineMs, quietMs = 1000 }: DrainOptions): Promise<number> {
  for (const listener of listeners) listener.stopAccepting();
  for (const listener of listeners) listener.beginLastAnswers();
  const ending = new AbortController();
  const { signal } = ending;
  const deadline = delay(deadlineMs, undefined, { signal }).catch(() => undefined);
  await Promise.race([lastWords(listeners, gateway, quietMs, signal), deadline]);
  ending.abort();
  const cut = gateway.inFlight;
  for (const listener of listeners) listener.close();
  // Closed connections report themselves in the next turn; what they were waiting for is then called off.
  await nextTurn();
  await Promise.race([gateway.idle(), delay(CALL_OFF_MS, undefined, { ref: false })]);
  return cut;
}

/** Ends when everybody has been told and has gone, which is the usual end, or when those that are left stay silent. */
async function lastWords(listeners: readonly Listener[], gateway: Gateway, quietMs: number, signal: AbortSignal): Promise<void> {
  let open = openConnections(listeners);
  let leftMs = quietMs;
  while (!signal.aborted) {
    await gateway.idle();
    const before = open;
    open = openConnections(listeners);
    if (open === 0) return;
    // While draining every answer closes its connection: an answer between two looks shows as a changed count.
    if (open !== before || listeners.some(({ unsent }) => unsent > 0)) leftMs = quietMs;
    else if (leftMs <= 0) return;
    await delay(TICK_MS);
    leftMs -= TICK_MS;
  }
}

function openConnections(listeners: readonly Listener[]): number {
  return listeners.reduce((sum, { connections }) => sum + connections, 0);
}
