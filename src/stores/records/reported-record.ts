// What has been reported of a team, as shared records.
import type { Micro } from '../../domain/money.ts';
import type { RecordName } from '../../ports/record-space.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';

export interface ReportedRecord {
  /** The last finished day, and the last closed period. */
  readonly day: number;
  readonly period: number;
  /** The highest percentage of each period since, by its number. */
  readonly percents: Readonly<Record<number, number>>;
  /** The balance when it was last looked at. */
  readonly balanceMicro: Micro;
}

/** A limit for which a refusal was reported (limit-events.ts). */
export interface ReportedLimit {
  /** Of the event. */
  readonly id: string;
  /** When it can be reported again, and this is forgotten; never if it is absent. */
  readonly untilMs?: number | undefined;
  /** Of credit: how many were reported, and what had been added to the balance in this period by then. */
  readonly since?: { readonly nth: number; readonly period: number; readonly addedMicro: Micro };
}

export function reportedName(teamId: string): RecordName {
  return { table: 'reported', id: teamId };
}

export function readReported(value: string): ReportedRecord {
  return JSON.parse(value) as ReportedRecord;
}

export function reportedLimitsName(teamId: string): RecordName {
  return { table: 'reported', id: `${teamId} limits` };
}

export function readReportedLimits(value: string | undefined): readonly ReportedLimit[] {
  return value === undefined ? [] : (JSON.parse(value) as ReportedLimit[]);
}

/** The record with another limit, and without those that can be reported again. There is one entry for credit. */
export function withReportedLimit(value: string | undefined, limit: ReportedLimit, nowMs: number): string {
  const isKept = ({ id, untilMs = Infinity, since }: ReportedLimit): boolean =>
    untilMs > nowMs && id !== limit.id && (since === undefined || limit.since === undefined);
  return JSON.stringify([...readReportedLimits(value).filter(isKept), limit]);
}

/** Whether credit was added since a refusal for it was reported. */
export function hasAddedSince({ since }: ReportedLimit, periods: readonly Pick<PeriodUse, 'number' | 'credit'>[]): boolean {
  if (since === undefined) return false;
  return periods.some(({ number, credit: { addedMicro } }) =>
    number === since.period ? addedMicro > since.addedMicro : number > since.period && addedMicro > 0,
  );
}
