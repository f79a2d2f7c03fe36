// The way down of the public side: no new connections, what is in flight ends, and only then is anything cut.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../core/gateway.ts';
import type { Listener } from './listener.ts';

export interface DrainOptions {
  readonly listeners: readonly Listener[];
  readonly gateway: Gateway;
  /** What is still in flight after so long is cut. */
  readonly deadlineMs: number;
  /**
   * So long nothing must be in flight before connections are cut: a caller between two requests gets to send the next
   * one and be told to close, and answers that are written get to leave the machine. Default 300.
   */
  readonly quietMs?: number;
}

/** How often the quiet is looked at. */
const TICK_MS = 20;

/** Resolves with the number of requests that had to be cut; 0 when all were answered. */
export async function drain({ listeners, gateway, deadlineMs, quietMs = 300 }: DrainOptions): Promise<number> {
  for (const listener of listeners) listener.stopAccepting();
  const ending = new AbortController();
  const deadline = delay(deadlineMs, undefined, { signal: ending.signal }).catch(() => undefined);
  await Promise.race([quiet(gateway, quietMs, ending.signal), deadline]);
  ending.abort();
  const cut = gateway.inFlight;
  for (const listener of listeners) listener.close();
  // Closed connections report themselves in the next turn; what they held is settled when this resolves.
  await nextTurn();
  return cut;
}

async function quiet(gateway: Gateway, quietMs: number, signal: AbortSignal): Promise<void> {
  let leftMs = quietMs;
  while (leftMs > 0 && !signal.aborted) {
    if (gateway.inFlight > 0) {
      await gateway.idle();
      leftMs = quietMs;
    }
    await delay(TICK_MS);
    leftMs -= TICK_MS;
  }
}
