// Refusals of teams by day and code: for operators, who see whom their limits turn away.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange, RefusalCode, RefusalCounts } from '../domain/usage-days.ts';

export type { RefusalCode, RefusalCounts } from '../domain/usage-days.ts';

export interface RefusalDays {
  /** Over these days; zeros for a team without any. Retained for `history.days`. */
  sum(teamId: string, range: DayRange): Promise<RefusalCounts | StoreUnavailable>;
}

export interface RefusalCounter {
  /** Counts a refusal. Cheap: the store gets many together, later. */
  count(teamId: string, code: RefusalCode): void;
}
