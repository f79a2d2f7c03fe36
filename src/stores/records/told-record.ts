// What has been told of a team, as shared records of a plugin's store: for its events, and for copies of the store.
import { dayOf } from '../../domain/period.ts';
import type { Micro } from '../../domain/money.ts';
import type { RecordName, StoredRecord } from '../../ports/record-space.ts';
import type { TeamContents, ToldRefusal } from '../../ports/store-contents.ts';

export interface ToldRecord {
  /** The last finished day, and the last closed period. */
  readonly day: number;
  readonly period: number;
  /** The highest percentage of each period since, by its number. */
  readonly percents: Readonly<Record<number, number>>;
  /** The balance when it was last looked at. */
  readonly balanceMicro: Micro;
}

export interface ToldContents extends Pick<TeamContents, 'dayDone' | 'toldPercents' | 'toldRefusals'> {
  /** The number of the last period whose end was told; all, if nothing was. */
  readonly toldPeriod: number;
}

export function toldName(teamId: string): RecordName {
  return { table: 'told', id: teamId };
}

export function readTold(value: string): ToldRecord {
  return JSON.parse(value) as ToldRecord;
}

/** The records that `toldContents` reads. Refusals come from copies of other stores. */
export function toldNames(teamId: string): readonly RecordName[] {
  return [toldName(teamId), { table: 'told', id: `${teamId} refusals` }];
}

export function toldContents([value, refusals]: readonly (string | undefined)[], nowMs: number): ToldContents {
  const told = value === undefined ? undefined : readTold(value);
  const percents = Object.entries(told?.percents ?? {}).map(([number, percent]) => ({ number: Number(number), percent }));
  return {
    dayDone: told?.day ?? dayOf(nowMs) - 1,
    toldPeriod: told?.period ?? Infinity,
    toldPercents: percents.toSorted((one, other) => one.number - other.number),
    toldRefusals: refusals === undefined ? [] : (JSON.parse(refusals) as ToldRefusal[]),
  };
}

export function toldRecords({ team, period, periods, ...told }: TeamContents): readonly StoredRecord[] {
  const first = periods.find(({ closed }) => !closed) ?? period;
  const percents = Object.fromEntries(told.toldPercents.map(({ number, percent }) => [number, percent]));
  const whole: ToldRecord = { day: told.dayDone, period: first.number - 1, percents, balanceMicro: team.balanceMicro };
  const [name, refusals] = toldNames(team.teamId) as [RecordName, RecordName];
  const ofRefusals = told.toldRefusals.length === 0 ? [] : [{ ...refusals, value: JSON.stringify(told.toldRefusals) }];
  return [{ ...name, value: JSON.stringify(whole) }, ...ofRefusals];
}
