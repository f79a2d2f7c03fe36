// What a clock that was ahead for a while has begun in a team, and how it is undone: computed from the team's contents, whichever
// store keeps them.
import { dayOf } from '../domain/period.ts';
import type { PeriodCredit } from '../domain/period-credit.ts';
import { periodBy } from '../domain/period-rule.ts';
import type { EventFacts } from '../ports/outbox.ts';
import type { KeyContents, LastCounts, MendedTeam, PeriodContents, RequestContents, TeamContents } from '../ports/store-contents.ts';
import type { KeyDay } from '../ports/usage-history.ts';
import { tagsUntil } from './records/tag-counts.ts';

/** Clocks of servers differ by less; what begins later than this from now was begun by a wrong clock. */
const AHEAD_MS = 60_000;
/** No lease of a gateway is longer. */
const LEASE_MS_MAX = 3_600_000;

/** Whether this moment lies ahead of the store's present time. */
export function isAhead(atMs: number, nowMs: number): boolean {
  return atMs > nowMs + AHEAD_MS;
}

export interface TeamRepair extends MendedTeam {
  /** `reopened`: a period that was closed too early runs again. `begun`: the period that contains the present is begun anew. */
  readonly what: 'reopened' | 'begun';
  /** Charged characters that were counted on days to come, and are moved to today. */
  readonly movedCharacters: number;
  /** The store counts these characters for the first key, because it no longer has whose they were. */
  readonly unknownCharacters: number;
}

/** `undefined` if the team's period has begun. */
export function repairOf(
  contents: TeamContents,
  nowMs: number,
  lastCounts: ReadonlyMap<string, LastCounts> = new Map(),
): TeamRepair | undefined {
  if (!isAhead(contents.period.startMs, nowMs)) return undefined;
  const period = periodAt(contents, nowMs);
  const undone = contents.periods.filter(({ number }) => number >= period.number);
  const days = daysUntil(contents.days, dayOf(nowMs));
  const used = usedIn({ contents, undone, period, days, lastCounts });
  const requests = contents.requests.map((request) => requestOf(request, period.number, nowMs));
  const open = requests.filter(({ periodNumber }) => periodNumber === period.number);
  const told = toldIn(contents, undone, period.number);
  return {
    what: period.isReopened ? 'reopened' : 'begun',
    movedCharacters: sumOf(contents.days.filter(({ day }) => day > dayOf(nowMs))),
    unknownCharacters: used.unknown,
    isUndone: (facts) => isUndone(facts, period.number, nowMs),
    contents: {
      ...contents,
      period: {
        number: period.number,
        startMs: period.startMs,
        endMs: period.endMs,
        anchorMs: period.anchorMs,
        credit: creditOf(contents, undone),
      },
      usedCharacters: used.total,
      heldCharacters: sumOf(open),
      allowanceUsed: contents.allowanceUsed + undone.reduce((sum, { allowanceUsed }) => sum + allowanceUsed, 0),
      allowanceHeld: sumOf(open.filter(({ ofAllowance }) => ofAllowance)),
      keys: contents.keys.map((key) => ({
        ...key,
        ...used.keys.get(key.keyId)!,
        lastUsedAtMs: key.lastUsedAtMs === undefined ? undefined : Math.min(key.lastUsedAtMs, nowMs),
        heldCharacters: key.heldCharacters === undefined ? undefined : sumOf(open.filter(({ keyId }) => keyId === key.keyId)),
      })),
      days,
      tags: tagsUntil(contents.tags, dayOf(nowMs), { ...period, held: heldByTag(open) }),
      dayDone: Math.min(contents.dayDone, dayOf(nowMs) - 1),
      periods: contents.periods.filter(({ number }) => number < period.number),
      toldPercents: [...contents.toldPercents.filter(({ number }) => number < period.number), ...told],
      toldRefusals: contents.toldRefusals.filter(({ code, number }) => code === 'credit_exhausted' || number <= period.number),
      requests,
    },
  };
}

function heldByTag(open: readonly RequestContents[]): ReadonlyMap<string, number> {
  const tagged = open.filter(({ tag }) => tag !== undefined);
  return new Map([...Map.groupBy(tagged, ({ tag }) => tag!.name)].map(([name, ofTag]) => [name, sumOf(ofTag)]));
}

interface PresentPeriod {
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly anchorMs: number;
  readonly isReopened: boolean;
}

/** The period that contains the present: as it was, if it is still kept, otherwise by the team's rule. */
function periodAt({ team, period, periods }: TeamContents, nowMs: number): PresentPeriod {
  const last = periods.findLast(({ startMs }) => startMs <= nowMs);
  const isWrong = isAhead(period.anchorMs, nowMs);
  if (last !== undefined && nowMs < last.endMs) {
    const { number, startMs, endMs } = last;
    return { number, startMs, endMs, anchorMs: isWrong ? endMs : period.anchorMs, isReopened: true };
  }
  const number = periods.find(({ startMs }) => startMs > nowMs)?.number ?? period.number;
  // A change of the plan, or the team's creation, at the wrong time: its periods are counted from now on.
  const anchorMs = isWrong ? nowMs : period.anchorMs;
  const bounds = periodBy(team.limits.period, anchorMs, nowMs);
  return { number, startMs: Math.max(bounds.startMs, last?.endMs ?? 0), endMs: bounds.endMs, anchorMs, isReopened: false };
}

/** What was counted on days to come happened before now; on which day is not known. */
function daysUntil(days: readonly KeyDay[], today: number): KeyDay[] {
  const kept = days.filter(({ day }) => day < today);
  for (const [keyId, own] of Map.groupBy(
    days.filter(({ day }) => day >= today),
    (one) => one.keyId,
  )) {
    const requests = own.reduce((sum, one) => sum + one.requests, 0);
    kept.push({ keyId, day: today, characters: sumOf(own), requests });
  }
  return kept;
}

/** The running period gets all that was added, deducted and spent in those that were begun instead of it. */
function creditOf({ period }: TeamContents, undone: readonly PeriodContents[]): PeriodCredit {
  const all = [...undone.map(({ credit }) => credit), period.credit];
  const sum = (name: 'addedMicro' | 'deductedMicro'): number => all.reduce((total, credit) => total + credit[name], 0);
  const { openingMicro } = all[0]!;
  return { openingMicro, addedMicro: sum('addedMicro'), deductedMicro: sum('deductedMicro'), balanceMicro: all.at(-1)!.balanceMicro };
}

type Counts = Pick<KeyContents, 'characters' | 'requests'>;

interface Used {
  readonly total: number;
  readonly unknown: number;
  readonly keys: ReadonlyMap<string, Counts>;
}

interface Merged {
  readonly contents: TeamContents;
  readonly undone: readonly PeriodContents[];
  readonly period: PresentPeriod;
  readonly days: readonly KeyDay[];
  readonly lastCounts: ReadonlyMap<string, LastCounts>;
}

/**
 * The running period gets what was charged in all that were begun instead of it. A period's total is always kept; which keys
 * were charged in a closed one is not, in some stores, and is then taken from the days.
 */
function usedIn({ contents, undone, period, days, lastCounts }: Merged): Used {
  const total = contents.usedCharacters + sumOf(undone);
  const known = new Map(contents.keys.map(({ keyId, characters, requests }): [string, Counts] => [keyId, { characters, requests }]));
  const add = (keyId: string, { characters, requests }: Counts): void => {
    const before = known.get(keyId);
    if (before !== undefined) known.set(keyId, { characters: before.characters + characters, requests: before.requests + requests });
  };
  for (const { keys = [] } of undone) for (const one of keys) add(one.keyId, one);
  for (const [keyId, counts] of lastCounts) {
    if (undone.some(({ number, keys }) => number === counts.number && keys === undefined)) add(keyId, counts);
  }
  let left = total - sumOf([...known.values()]);
  if (left <= 0) return { total, unknown: 0, keys: known };
  // The period may have begun in the middle of its first day: the end of that day is taken last.
  const firstDay = dayOf(period.startMs);
  for (const isFirst of [false, true]) {
    for (const { keyId } of contents.keys) {
      const own = days.filter((one) => one.keyId === keyId && (isFirst ? one.day >= firstDay : one.day > firstDay));
      const { characters, requests } = known.get(keyId)!;
      const more = Math.min(left, Math.max(0, sumOf(own) - characters));
      if (more === 0) continue;
      const all = own.reduce((sum, one) => sum + one.requests, 0);
      known.set(keyId, { characters: characters + more, requests: Math.max(requests + 1, all) });
      left -= more;
    }
  }
  const [first] = contents.keys;
  if (left > 0 && first !== undefined) add(first.keyId, { characters: left, requests: 1 });
  return { total, unknown: left, keys: known };
}

/** The thresholds that were told for any of these periods are not told again; those that only their sum reaches will be. */
function toldIn({ team, toldPercents }: TeamContents, undone: readonly PeriodContents[], number: number): TeamContents['toldPercents'] {
  const told = toldPercents.filter((one) => one.number >= number).map(({ percent }) => percent);
  const { billing, characterLimit } = team.limits;
  const closed = undone.filter((one) => one.closed && billing === 'quota' && characterLimit > 0);
  const percent = Math.max(0, ...told, ...closed.map((one) => Math.floor((100 * (one.characters - one.allowanceUsed)) / characterLimit)));
  return percent === 0 ? [] : [{ number, percent }];
}

/** What is open stays open in the period that now runs, and not longer than a lease lasts. */
function requestOf(request: RequestContents, periodNumber: number, nowMs: number): RequestContents {
  const untilMs = Math.min(request.untilMs, nowMs + LEASE_MS_MAX);
  return { ...request, untilMs, periodNumber: Math.min(request.periodNumber, periodNumber) };
}

function isUndone(facts: EventFacts, fromNumber: number, nowMs: number): boolean {
  switch (facts.kind) {
    case 'period_closed':
      return facts.period.number >= fromNumber;
    case 'quota_threshold':
      return facts.usage.periodStartMs > nowMs;
    case 'usage_day':
      return facts.day >= dayOf(nowMs);
    case 'limit_reached':
      return facts.code === 'quota_exceeded' && facts.usage.periodStartMs > nowMs;
    case 'credit_threshold':
    case 'team_created':
    case 'team_updated':
    case 'team_deleted':
    case 'key_created':
    case 'key_updated':
    case 'key_revoked':
    case 'engine_limit':
    case 'document_done':
      return false;
  }
}

/** The last day of which a retention of so many days by that clock has left nothing; `undefined` if it cannot have deleted any. */
export function lostUntil({ team, period, days }: TeamContents, nowMs: number, historyDays: number): number | undefined {
  const furthest = days.reduce((most, { day }) => Math.max(most, day), dayOf(period.startMs));
  const first = furthest - historyDays;
  const oldest = Math.max(dayOf(team.createdAtMs), dayOf(nowMs) - historyDays);
  return first > oldest ? Math.min(first, dayOf(nowMs)) - 1 : undefined;
}

function sumOf(counts: readonly Pick<Counts, 'characters'>[]): number {
  return counts.reduce((sum, { characters }) => sum + characters, 0);
}
