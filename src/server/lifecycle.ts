// Stops the public side: no new connections, requests in flight end, idle callers get to know, and only then is anything cut.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../core/gateway.ts';
import type { Listener } from './listener.ts';

export interface DrainOptions {
  readonly listeners: readonly Listener[];
  readonly gateway: Gateway;
  /** What is still in flight after so long is cut. */
  readonly deadlineMs: number;
  /**
   * The connections that are left are cut when nothing has happened for this long. HTTP cannot announce the end of an idle
   * connection, and a request that a caller sends just then is lost. So every connection may send one more request, whose
   * answer says `Connection: close`; only those that stay silent for this long are cut. Default 1000.
   */
  readonly quietMs?: number;
}

/** How often it is checked whether anything has happened. */
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
  // Closed connections are reported in the next turn; then their requests are cancelled.
  await nextTurn();
  await Promise.race([gateway.idle(), delay(CALL_OFF_MS, undefined, { ref: false })]);
  return cut;
}

/** Ends when all connections have got a last answer and are closed, which is usual, or when those that are left stay silent. */
async function lastWords(listeners: readonly Listener[], gateway: Gateway, quietMs: number, signal: AbortSignal): Promise<void> {
  let open = openConnections(listeners);
  let leftMs = quietMs;
  while (!signal.aborted) {
    await gateway.idle();
    const before = open;
    open = openConnections(listeners);
    if (open === 0) return;
    // While draining every answer closes its connection, so an answer between two checks shows as a changed number of connections.
    if (open !== before || listeners.some(({ unsent }) => unsent > 0)) leftMs = quietMs;
    else if (leftMs <= 0) return;
    await delay(TICK_MS);
    leftMs -= TICK_MS;
  }
}

function openConnections(listeners: readonly Listener[]): number {
  return listeners.reduce((sum, { connections }) => sum + connections, 0);
}
