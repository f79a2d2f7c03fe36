// What has been told of a team, as shared records of a plugin's store: for its events, and for copies of the store.
import { eventIds } from '../../domain/event-rules.ts';
import { dayOf } from '../../domain/period.ts';
import type { Micro } from '../../domain/money.ts';
import type { RecordName, StoredRecord } from '../../ports/record-space.ts';
import type { TeamContents, ToldRefusal } from '../../ports/store-contents.ts';
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
  /** As copies have it; absent for the limits of windows and tags, which are told again in a copy. */
  readonly refusal?: ToldRefusal;
  /** Of credit: what had been added to the balance in this period by then. */
  readonly since?: { readonly period: number; readonly addedMicro: Micro };
}

export interface ToldContents extends Pick<TeamContents, 'dayDone' | 'toldPercents'> {
  readonly toldLimits: readonly ToldLimit[];
  /** The number of the last period whose end was told; all, if nothing was. */
  readonly toldPeriod: number;
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

/** The records that `toldContents` reads. */
export function toldNames(teamId: string): readonly RecordName[] {
  return [toldName(teamId), toldLimitsName(teamId)];
}

export function toldContents([value, limits]: readonly (string | undefined)[], nowMs: number): ToldContents {
  const told = value === undefined ? undefined : readTold(value);
  const percents = Object.entries(told?.percents ?? {}).map(([number, percent]) => ({ number: Number(number), percent }));
  return {
    dayDone: told?.day ?? dayOf(nowMs) - 1,
    toldPeriod: told?.period ?? Infinity,
    toldPercents: percents.toSorted((one, other) => one.number - other.number),
    toldLimits: readToldLimits(limits),
  };
}

export function toldRecords({ team, period, periods, ...told }: TeamContents): readonly StoredRecord[] {
  const first = periods.find(({ closed }) => !closed) ?? period;
  const percents = Object.fromEntries(told.toldPercents.map(({ number, percent }) => [number, percent]));
  const whole: ToldRecord = { day: told.dayDone, period: first.number - 1, percents, balanceMicro: team.balanceMicro };
  const limits = told.toldRefusals.map((refusal) => toldLimitOf(refusal, team.teamId, period));
  return [
    { ...toldName(team.teamId), value: JSON.stringify(whole) },
    { ...toldLimitsName(team.teamId), value: JSON.stringify(limits) },
  ];
}

function toldLimitOf(refusal: ToldRefusal, teamId: string, period: TeamContents['period']): ToldLimit {
  const { number } = refusal;
  if (refusal.code === 'credit_exhausted') {
    const since = { period: period.number, addedMicro: period.credit.addedMicro };
    return { id: eventIds.creditLimit(teamId, number), refusal, since };
  }
  const of = { startMs: period.startMs, number };
  const id = refusal.testKeys === true ? eventIds.testLimit(teamId, of) : eventIds.quotaLimit(refusal.keyId ?? teamId, of);
  return { id, untilMs: period.endMs, refusal };
}

/** The team's first, then those of keys by their ids. */
export function toldRefusalsOf(
  limits: readonly ToldLimit[],
  periods: readonly Pick<PeriodUse, 'number' | 'credit'>[],
): readonly ToldRefusal[] {
  const refusals = limits.flatMap((limit): ToldRefusal[] => {
    const { refusal } = limit;
    if (refusal?.code !== 'credit_exhausted') return refusal === undefined ? [] : [refusal];
    return [{ ...refusal, told: refusal.told && !hasAddedSince(limit, periods) }];
  });
  return refusals.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

function orderOf(refusal: ToldRefusal): string {
  if (refusal.code === 'credit_exhausted') return '3';
  return refusal.keyId !== undefined ? `4${refusal.keyId}` : refusal.testKeys === true ? '2' : '1';
}
