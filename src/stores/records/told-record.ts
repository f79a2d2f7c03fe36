// What has been told of a team, as shared records.
import type { Micro } from '../../domain/money.ts';
import type { RecordName } from '../../ports/record-space.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';

export interface ToldRecord {
  /** The last finished day, and the last closed period. */
  readonly day: number;
  readonly period: number;
  /** The highest percentage of each period since, by its number. */
  readonly percents: Readonly<Record<number, number>>;
  /** The balance when it was last looked at. */
  readonly balanceMicro: Micro;
}

/** A limit for which a refusal was told (limit-events.ts). */
export interface ToldLimit {
  /** Of the event. */
  readonly id: string;
  /** When it can be told again, and this is forgotten; never if it is absent. */
  readonly untilMs?: number | undefined;
  /** Of credit: how many were told, and what had been added to the balance in this period by then. */
  readonly since?: { readonly nth: number; readonly period: number; readonly addedMicro: Micro };
}

export function toldName(teamId: string): RecordName {
  return { table: 'told', id: teamId };
}

export function readTold(value: string): ToldRecord {
  return JSON.parse(value) as ToldRecord;
}

export function toldLimitsName(teamId: string): RecordName {
  return { table: 'told', id: `${teamId} limits` };
}

export function readToldLimits(value: string | undefined): readonly ToldLimit[] {
  return value === undefined ? [] : (JSON.parse(value) as ToldLimit[]);
}

/** The record with another limit, and without those that can be told again. There is one entry for credit. */
export function withToldLimit(value: string | undefined, limit: ToldLimit, nowMs: number): string {
  const isKept = ({ id, untilMs = Infinity, since }: ToldLimit): boolean =>
    untilMs > nowMs && id !== limit.id && (since === undefined || limit.since === undefined);
  return JSON.stringify([...readToldLimits(value).filter(isKept), limit]);
}

/** Whether credit was added since a refusal for it was told. */
export function hasAddedSince({ since }: ToldLimit, periods: readonly Pick<PeriodUse, 'number' | 'credit'>[]): boolean {
  if (since === undefined) return false;
  return periods.some(({ number, credit: { addedMicro } }) =>
    number === since.period ? addedMicro > since.addedMicro : number > since.period && addedMicro > 0,
  );
}
