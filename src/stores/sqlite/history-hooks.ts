// What the ledger tells while it happens, inside the transaction: rows that are written then are kept, or lost, with it.
import type { Micro } from '../../domain/money.ts';
import type { TeamBooks } from './team-books.ts';

export interface HistoryHooks {
  /** A charge is in the team's counts of its current period. Called for every commit: compare numbers, and no more. */
  charged(team: TeamBooks, priceMicro: Micro, nowMs: number): void;
  /**
   * A day of the team is over and in `usage_days`, with all that was committed in it. If the clock has stepped back since,
   * more may be added, and the day is told again when that is over.
   */
  dayFinished(team: TeamBooks, day: number, nowMs: number): void;
  /** Nothing of the period can change any more; its row in `periods` has all of it. Not called for one without use. */
  periodClosed(team: TeamBooks, periodNo: number, nowMs: number): void;
}

const nothing = (): void => undefined;

export const NO_HOOKS: HistoryHooks = { charged: nothing, dayFinished: nothing, periodClosed: nothing };
