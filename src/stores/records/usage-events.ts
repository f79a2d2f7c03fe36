// Events about usage, for stores that charge without looking at thresholds: what a team has used is compared with what has been reported of
// it, by the gateway that has charged it, a few teams a second, and by the one that sends events, which goes through all teams.
import { setTimeout as delay } from 'node:timers/promises';
import { creditReached, eventIds, percentsReached } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import type { Micro } from '../../domain/money.ts';
import { dayOf, DAY_MS } from '../../domain/period.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { AskedResolution, Callbacks, Resolution } from '../../ports/ledger.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { Store } from '../../ports/store.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../ports/usage-history.ts';
import { newEvent } from './event-record.ts';
import { readReported, reportedName } from './reported-record.ts';
import type { ReportedRecord } from './reported-record.ts';

/** How many teams are looked at with each call, and the pause after all of them were. */
const TEAMS_MAX = 20;
const AGAIN_MS = 5000;
/** The pause between two teams that were charged, and how many of them wait; others are found as if nobody had charged them. */
const CHARGED_EVERY_MS = 200;
const CHARGED_MAX = 10_000;
/** What ended longer ago, while nobody sent events, is not reported. */
const LATE_DAYS = 7;

/** A team as it is found. */
interface Found {
  readonly team: Team;
  /** Newest first; the first is the current one. */
  readonly periods: readonly PeriodUse[];
  /** Those that have ended and were not reported. */
  readonly days: readonly KeyDay[];
  /** Of the current period, if that has reached a percentage. */
  readonly usage: Usage | undefined;
}

type Parts = Pick<Store, 'teams' | 'history' | 'records'> & { readonly rules: EventRules; readonly nowMs: () => number };

export class UsageEvents {
  readonly #parts: Parts;
  /** The last team that was looked at. */
  #after: string | undefined;
  #againAtMs = -Infinity;
  readonly #charged = new Set<string>();
  #isLooking = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The callbacks of a settlement: a team that is charged is looked at soon. */
  watching(asked: AskedResolution): Callbacks<Resolution> {
    return {
      answered: (answer) => {
        if (answer.kind === 'committed' && this.#charged.size < CHARGED_MAX) this.#charged.add(asked.teamId);
        if (!this.#isLooking) void this.#lookAtCharged();
        asked.answered(answer);
      },
      failed: (error) => asked.failed(error),
    };
  }

  async #lookAtCharged(): Promise<void> {
    this.#isLooking = true;
    for (const teamId of this.#charged) {
      await delay(CHARGED_EVERY_MS, undefined, { ref: false });
      this.#charged.delete(teamId);
      // What is missed is found later.
      await this.#lookAt(teamId).catch(() => undefined);
    }
    this.#isLooking = false;
  }

  /** Looks at the next teams. What the store does not answer is looked at again later. */
  async look(): Promise<void> {
    const { teams, nowMs } = this.#parts;
    if (Math.abs(nowMs() - this.#againAtMs) < AGAIN_MS) return;
    const page = await teams.pageTeams({ after: this.#after, limit: TEAMS_MAX, search: undefined });
    if (isUnavailable(page)) return;
    for (const { teamId } of page) await this.#lookAt(teamId);
    this.#after = page.length < TEAMS_MAX ? undefined : page.at(-1)?.teamId;
    if (this.#after === undefined) this.#againAtMs = nowMs();
  }

  async #lookAt(teamId: string): Promise<void> {
    const { teams, history, records, rules, nowMs } = this.#parts;
    const name = reportedName(teamId);
    const values = await records.read(SHARED_RECORDS, [name]);
    // After that: what was reported of a deleted team is gone, and nothing more is reported.
    const team = await teams.findTeam(teamId);
    const periods = await history.periods(teamId);
    if (isUnavailable(values) || team === undefined || isUnavailable(team) || periods === undefined || isUnavailable(periods)) return;
    const today = dayOf(nowMs());
    const [before] = values;
    const reported = before === undefined ? firstSeen(periods, today) : readReported(before);
    const [from, to] = [Math.max(reported.day + 1, today - LATE_DAYS), today - 1];
    const found = from > to ? undefined : await history.days(teamId, { from, to });
    const usage = percentsOf(rules, reported, periods[0]!).length === 0 ? undefined : await teams.usage(teamId);
    if (isUnavailable(found) || isUnavailable(usage)) return;
    const { next, events } = unreported(rules, reported, { team, periods, days: found?.days ?? [], usage }, nowMs());
    const value = JSON.stringify(next);
    if (value === before) return;
    await records.change(SHARED_RECORDS, [name], ([now], head) => {
      // Another process has looked at it meanwhile.
      if (now !== before) return { result: true };
      const kept = events.map((event) => newEvent({ ...event, teamId, atMs: head.nowMs }));
      const put = [{ ...name, value }, ...kept.flatMap((one) => one.put)];
      return { result: true, put, index: kept.flatMap(({ index }) => index) };
    });
  }
}

/** Of what ended before nothing is reported. A team that is in its first period has begun with the credit that it was given. */
function firstSeen([current]: readonly PeriodUse[], today: number): ReportedRecord {
  const { number, credit } = current!;
  const balanceMicro = number === 1 ? credit.addedMicro : credit.balanceMicro;
  return { day: today - 1, period: number - 1, percents: {}, balanceMicro };
}

/** What is to be reported of a team, and what has been reported of it then. */
function unreported(
  rules: EventRules,
  reported: ReportedRecord,
  { team, periods, days, usage }: Found,
  nowMs: number,
): { readonly next: ReportedRecord; readonly events: readonly NewEvent[] } {
  const { teamId } = team;
  const isNews = ({ number }: PeriodUse): boolean => number > reported.period;
  const isRecent = ({ endMs }: PeriodUse): boolean => endMs > nowMs - LATE_DAYS * DAY_MS;
  const ended = periods.filter((one) => isNews(one) && one.closed).toReversed();
  const period = ended.at(-1)?.number ?? reported.period;
  const { balanceMicro } = periods[0]!.credit;
  const events: NewEvent[] = [];
  const percents: Record<number, number> = {};
  for (const one of periods.filter(isNews).toReversed()) {
    const reached = isRecent(one) ? percentsOf(rules, reported, one) : [];
    const then = one === periods[0] && usage !== undefined ? usage : usageOf(team, one);
    events.push(...reached.map((percent) => quotaEvent(teamId, one, percent, then)));
    const last = reached.at(-1) ?? reported.percents[one.number];
    if (one.number > period && last !== undefined) percents[one.number] = last;
  }
  for (const one of ended.filter((each) => isRecent(each) && each.characters > 0))
    events.push({ id: eventIds.period(teamId, one), facts: { kind: 'period_closed', period: one } });
  events.push(...daysOf(teamId, days), ...creditOf(rules, team, reported.balanceMicro, balanceMicro, nowMs));
  return { next: { day: Math.max(reported.day, dayOf(nowMs) - 1), period, percents, balanceMicro }, events };
}

/** The percentages that a period has reached and that were not reported. */
function percentsOf(
  rules: EventRules,
  reported: ReportedRecord,
  { number, limits, characters, allowanceUsed }: PeriodUse,
): readonly number[] {
  if (limits.billing !== 'quota') return [];
  return percentsReached(rules, limits.characterLimit, reported.percents[number] ?? 0, characters - allowanceUsed);
}

function quotaEvent(teamId: string, period: PeriodUse, percent: number, usage: Usage): NewEvent {
  return { id: eventIds.quota(teamId, period, percent), facts: { kind: 'quota_threshold', percent, usage } };
}

/** Of a period that has ended; it is not known which keys have used it. */
export function usageOf(team: Team, { plan, limits, startMs, endMs, characters, allowanceUsed }: PeriodUse): Usage {
  return { team: { ...team, plan, limits }, periodStartMs: startMs, periodEndMs: endMs, characters, allowanceUsed, keys: [] };
}

function daysOf(teamId: string, days: readonly KeyDay[]): NewEvent[] {
  return [...Map.groupBy(days, ({ day }) => day)].map(([day, keys]) => {
    const [characters, requests] = [keys.reduce((sum, one) => sum + one.characters, 0), keys.reduce((sum, one) => sum + one.requests, 0)];
    return { id: eventIds.day(teamId, day, requests), facts: { kind: 'usage_day', day, characters, requests } };
  });
}

function creditOf(rules: EventRules, { teamId, limits }: Team, before: Micro, after: Micro, atMs: number): NewEvent[] {
  if (limits.billing !== 'credit') return [];
  return creditReached(rules, before, after).map((thresholdMinor) => ({
    // A team is looked at once in a millisecond.
    id: eventIds.numbered(eventIds.credit(teamId, thresholdMinor), { atMs, serial: 0 }),
    facts: { kind: 'credit_threshold', thresholdMinor, balanceMicro: after, currency: limits.currency },
  }));
}
