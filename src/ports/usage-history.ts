// What was used, day by day and period by period: what invoices are made of.
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { KeyRecord, Team, TeamPage } from './team-registry.ts';

export type { DayRange } from '../domain/usage-days.ts';

/** What one key committed on one day, UTC's by the store's clock. A day without a committed request has no row. */
export interface KeyDay {
  readonly day: number;
  readonly keyId: string;
  readonly characters: number;
  /** Committed requests. */
  readonly requests: number;
}

export interface TeamDays {
  readonly team: Team;
  /** Every key that has a row, revoked ones included, in order of creation. */
  readonly keys: readonly KeyRecord[];
  /** By day, and within a day in order of the keys' creation. A team's own count of a day is the sum of its keys'. */
  readonly days: readonly KeyDay[];
}

/** A period of a team as it stands, or as it was when it was left. */
export interface PeriodUse {
  /** Counted up for each team; no two of its periods share one. */
  readonly number: number;
  readonly startMs: number;
  /** When it ended, or will; before its usual end where another length began a new period. */
  readonly endMs: number;
  /** Nothing of it can change any more: it has ended, and no reservation of it is open. */
  readonly closed: boolean;
  /** The plan's name and the limits that held in it at last. */
  readonly plan: string;
  readonly limits: TeamLimits;
  /** Committed. */
  readonly characters: number;
}

/**
 * Counted by the operation that commits the charge: a character is in the counts of its day exactly if it is charged. Kept
 * for `history.days`. Where there is no such team, `undefined` is answered.
 */
export interface UsageHistory {
  days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable>;
  /** The same for a page of teams, in order of creation, those without use included: for lists and exports in bounded memory. */
  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable>;
  /** Newest first, the running one included; one without use may be missing. */
  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable>;
}
