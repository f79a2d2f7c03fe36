// What was charged by tag and day, which the ledger counts with the charges.
import type { TagCount } from '../domain/request-tag.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';

/** A day without a charge has no row. */
export interface TagDay extends TagCount {
  readonly tag: string;
}

/**
 * Retained like the days of `UsageHistory`, until the team is deleted, even if its usage stays.
 * What is read before a team's days is among them.
 */
export interface TagHistory {
  /** In order of days, and within a day of tags; none for a team that does not exist. */
  days(teamId: string, range: DayRange): Promise<readonly TagDay[] | StoreUnavailable>;
}
