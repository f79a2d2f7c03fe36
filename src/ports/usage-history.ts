// Usage by day and by period, as the basis for invoices; and refusals by day, for operators, who see
// whom their limits turn away.
import type { Micro } from '../domain/money.ts';
import type { PeriodCredit, PeriodSpan } from '../domain/period.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange, RefusalCode, RefusalCounts } from '../domain/usage-days.ts';
import type { KeyRecord, Team, TeamPage } from './team-registry.ts';

export type { DayRange, RefusalCode, RefusalCounts } from '../domain/usage-days.ts';

/** What one key committed on one UTC day, by the store's clock. A day without a committed request has no row. */
export interface KeyDay {
  readonly day: number;
  readonly keyId: string;
  readonly characters: number;
  readonly requests: number;
}

export interface TeamDays {
  readonly team: Team;
  /** Every key that has a row, including revoked ones, in order of creation. */
  readonly keys: readonly KeyRecord[];
  /** Ordered by day, then by creation of the key. The team's own count for a day is the sum over its keys. */
  readonly days: readonly KeyDay[];
}

/** What was charged to a key, on a day, in a period: all that is shown or invoiced is a sum of these. */
export interface ChargeRow {
  readonly keyId: string;
  readonly day: number;
  readonly period: number;
  readonly characters: number;
  readonly requests: number;
  readonly micro: Micro;
  /** Of the characters, those of the allowance for test keys. */
  readonly ofAllowance: number;
}

/** The period that runs, even if it has ended by now. What was added to its balance, and deducted, is counted with it. */
export interface RunningPeriod {
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  /** The anchor from which later periods are counted. */
  readonly anchorMs: number;
  readonly addedMicro: Micro;
  readonly deductedMicro: Micro;
}

/** One that was superseded, with the plan that it had then. */
export interface EndedPeriod extends Omit<RunningPeriod, 'anchorMs'> {
  readonly plan: string;
  readonly limits: TeamLimits;
}

/** The current state of a period, or its state when it was superseded. */
export interface PeriodUse {
  /** Increases per team; never reused. */
  readonly number: number;
  readonly startMs: number;
  /** When it ended or will end; earlier than usual if a change of period length began a new period. */
  readonly endMs: number;
  /** Final: it has ended and none of its reservations is open. */
  readonly closed: boolean;
  /** Name and limits of the last plan that applied to it. */
  readonly plan: string;
  readonly limits: TeamLimits;
  /** Committed. */
  readonly characters: number;
  /** Of these, what test keys used of the plan's allowance: for nothing. */
  readonly allowanceUsed: number;
  /** Of `characters`, those of test keys. */
  readonly testCharacters: number;
  /** Requests that were charged. */
  readonly requests: number;
  readonly credit: PeriodCredit;
}

/** A team's periods that a question is about. */
export interface TeamPeriods {
  readonly team: Team;
  /** The team was deleted, and its usage stayed. */
  readonly deleted: boolean;
  /** Oldest first. */
  readonly periods: readonly PeriodUse[];
}

/**
 * Counted by the operation that commits the charge: a character appears in its day's counts if and only if it is charged.
 * Retained for `history.days`. Returns `undefined` if there is no such team.
 */
export interface UsageHistory {
  days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable>;
  /** The same for a page of teams, in order of creation, including unused ones: for lists and exports in bounded memory. */
  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable>;
  /** Newest first, including the current period; periods without use may be missing. */
  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable>;
  /**
   * The periods of a page of teams in a span, in order of creation, including deleted teams whose usage stayed: for invoices in
   * bounded memory. Periods that can be closed are closed first.
   */
  pagePeriods(page: TeamPage, span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable>;
}

export interface RefusalDays {
  /** Over these days; zeros for a team without any. Retained for `history.days`. */
  sum(teamId: string, range: DayRange): Promise<RefusalCounts | StoreUnavailable>;
}

export interface RefusalCounter {
  /** Counts a refusal. Cheap: the store gets many together, later. */
  count(teamId: string, code: RefusalCode): void;
}
