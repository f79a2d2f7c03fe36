// The settlement queue of a process: opening it, and how long stopping waits for it.
import type { Config } from '../config/config.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { SettlementQueue } from '../runtime/settlement-queue.ts';
import type { SettlementQueueOptions } from '../runtime/settlement-queue.ts';

const SETTLE_WAIT_MS = 5000;
/** The part of the time for stopping that is left when waiting for settlements ends: for what is closed after them. */
const AFTER_SETTLING_MS = 1000;

/** How long to wait for settlements, given the remaining time for stopping. */
export function settleWithinMs(leftMs: number): number {
  return Math.max(0, Math.min(SETTLE_WAIT_MS, leftMs - AFTER_SETTLING_MS));
}

interface SettlingParts extends Pick<SettlementQueueOptions, 'now' | 'nowMs' | 'log'> {
  readonly config: Config;
  readonly store: Store;
  readonly metrics: Metrics;
}

export function openSettlements({ config, store, metrics, now, nowMs, log }: SettlingParts): SettlementQueue {
  return new SettlementQueue({
    ledger: store.ledger,
    now,
    nowMs,
    log,
    leaseMs: config.limits.leaseMs,
    onSettled: metrics.requests.settlement,
  });
}

/** Waits a moment for settlements that the store has not acknowledged. After that they are released when their leases end. */
export async function settle(settlements: SettlementQueue, log: Log, withinMs: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  await Promise.race([settlements.drained(), late]);
  clearTimeout(timer);
  if (settlements.open > 0) log.warn('reservations left to their leases', { count: settlements.open });
  settlements.close();
}
