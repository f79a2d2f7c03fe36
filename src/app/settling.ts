// The settlement queue of a process: how it is opened, and how long its end waits for the store.
import type { Config } from '../config/config.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import { SettlementQueue } from '../runtime/settlement-queue.ts';

const SETTLE_WAIT_MS = 5000;

/** `now` is a monotonic clock in milliseconds. */
export function openSettlements(config: Config, store: Store, metrics: Metrics, log: Log, now: () => number): SettlementQueue {
  return new SettlementQueue({
    ledger: store.ledger,
    now,
    log,
    leaseMs: config.limits.leaseMs,
    onSettled: (verdict, result) => metrics.settlement(verdict, result),
  });
}

/** Waits a moment for settlements that the store has not acknowledged. After that they are released when their leases end. */
export async function settle(settlements: SettlementQueue, log: Log): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, SETTLE_WAIT_MS);
  await Promise.race([settlements.drained(), late]);
  clearTimeout(timer);
  if (settlements.open > 0) log.warn('reservations left to their leases', { count: settlements.open });
  settlements.close();
}
