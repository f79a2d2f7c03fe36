// Settles reservations: passes verdicts on at once, and repeats them by id until their outcome.
import type { AskedResolution, Ledger, Reservation, Resolution, SettlementResult, Settlements, Verdict } from '../ports/ledger.ts';
import type { RequestTrace } from '../domain/request-trace.ts';
import type { Log } from '../ports/log.ts';

interface SettlementQueueOptions {
  readonly ledger: Pick<Ledger, 'resolve'>;
  /** A monotonic clock in milliseconds: adjusting the wall clock must not end a lease early. */
  readonly now: () => number;
  /** The store's clock, for the leases of reservations. */
  readonly nowMs: () => number;
  readonly log: Log;
  /** Of a request's reservation; retries stop after it, or when a longer lease ends. */
  readonly leaseMs: number;
  /** Once per verdict; `abandoned` if the lease ended first or the queue was full. */
  readonly onSettled: (verdict: Verdict, result: SettlementResult) => void;
}

/** For a settlement that failed with a bug: whether it ran is unknown. */
const BUG: Resolution = { kind: 'unavailable', cause: 'internal' };
const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 1000;
const OPEN_MAX = 100_000;

interface NewSettlement {
  readonly verdict: Verdict;
  readonly characters?: number | undefined;
  readonly trace: RequestTrace | undefined;
  /** How long the reservation's lease lasts. */
  readonly leftMs?: number;
  readonly settled?: ((result: SettlementResult) => void) | undefined;
}

export class SettlementQueue implements Settlements {
  readonly #options: SettlementQueueOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  /** Verdicts not yet acknowledged by the store. To be read only. */
  open = 0;
  #closed = false;
  readonly #onEmpty: (() => void)[] = [];

  constructor(options: SettlementQueueOptions) {
    this.#options = options;
  }

  commit(reservation: Reservation, characters?: number, trace?: RequestTrace, settled?: (result: SettlementResult) => void): void {
    const leftMs = reservation.leaseUntilMs - this.#options.nowMs();
    this.#take(reservation, { verdict: 'commit', characters, trace, leftMs, settled });
  }

  release(reservation: Reservation, trace?: RequestTrace): void {
    this.#take(reservation, { verdict: 'release', trace });
  }

  releaseUnknown(teamId: string, requestId: string, trace?: RequestTrace): void {
    this.#take({ teamId, requestId }, { verdict: 'release', trace });
  }

  /** Resolves when nothing is open. */
  drained(): Promise<void> {
    if (this.open === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#onEmpty.push(resolve));
  }

  /** Stops retrying. Reservations that are still open expire with their lease, uncharged. */
  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #take(
    { teamId, requestId }: Pick<Reservation, 'teamId' | 'requestId'>,
    { verdict, characters, trace, leftMs = 0, settled }: NewSettlement,
  ): void {
    const { ledger, leaseMs, now } = this.#options;
    this.open++;
    // When the store releases the reservation automatically.
    const untilMs = now() + Math.max(leaseMs, leftMs);
    const settlement = trace?.settlement(verdict);
    let tries = 1;
    const done = (result: SettlementResult): void => {
      settlement?.ended(result, tries);
      settled?.(result);
      this.#done({ teamId, requestId, verdict }, result);
    };
    const asked: AskedResolution = {
      teamId,
      requestId,
      verdict,
      characters,
      answered: (resolution) => {
        if (resolution.kind !== 'unavailable') {
          const isLost = resolution.kind === 'absent' && verdict === 'commit' && tries === 1;
          return done(isLost ? 'expired' : resolution.kind);
        }
        const delayMs = Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
        if (this.#closed || now() + delayMs >= untilMs) return done('abandoned');
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          tries++;
          ledger.resolve(asked);
        }, delayMs);
        this.#timers.add(timer);
      },
      failed: () => asked.answered(BUG),
    };
    if (this.open > OPEN_MAX) done('abandoned');
    else ledger.resolve(asked);
  }

  #done({ teamId, requestId, verdict }: Pick<AskedResolution, 'teamId' | 'requestId' | 'verdict'>, result: SettlementResult): void {
    this.open--;
    this.#options.onSettled(verdict, result);
    const isLost = verdict === 'commit' && (result === 'expired' || result === 'abandoned');
    if (isLost) this.#options.log.warn('a delivered translation was not charged', { request_id: requestId, team: teamId, result });
    if (this.open === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

const SETTLE_WAIT_MS = 5000;
/** Of the time for stopping: for what is closed after the wait for settlements. */
const AFTER_SETTLING_MS = 1000;

/** How long to wait for settlements, given the remaining time for stopping. */
export function settleWithinMs(leftMs: number): number {
  return Math.max(0, Math.min(SETTLE_WAIT_MS, leftMs - AFTER_SETTLING_MS));
}

/** For those that the store has not acknowledged. Then they end with their leases. */
export async function settle(settlements: SettlementQueue, log: Log, withinMs: number): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, withinMs);
  await Promise.race([settlements.drained(), timedOut]);
  clearTimeout(timer);
  if (settlements.open > 0) log.warn('reservations left to their leases', { count: settlements.open });
  settlements.close();
}
