// Events about usage and limits: what a team has used is compared with what has been reported of it, by the gateway that has charged or
// refused it, and by the one that sends events, which goes through all teams. What was reported changes together with the events.
import { setTimeout as delay } from 'node:timers/promises';
import { creditReached, eventIds, percentsReached } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { costMicro } from '../../domain/money.ts';
import type { Micro } from '../../domain/money.ts';
import { dayOf, DAY_MS } from '../../domain/period.ts';
import { windowAt } from '../../domain/window-limits.ts';
import { answered, answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type {
  Admission,
  AdmissionRequest,
  Callbacks,
  CallerCheck,
  CheckedCaller,
  CreditExhausted,
  Ledger,
  QuotaExceeded,
  RateLimited,
} from '../../ports/ledger.ts';
import type { LimitReached, Outbox } from '../../ports/outbox.ts';
import type { NewEvent, RecordName } from '../../ports/record-space.ts';
import type { Store } from '../../ports/store.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../ports/usage-history.ts';
import { newEvent } from './event-record.ts';
import { RecordGroup, joined } from './json-table.ts';

/** How many teams are looked at with each call, and the pause after all of them were. */
const TEAMS_MAX = 20;
const AGAIN_MS = 5000;
/** The pause between two teams that were charged, and how many of them wait; others are found as if nobody had charged them. */
const CHARGED_EVERY_MS = 200;
const CHARGED_MAX = 10_000;
/** What ended longer ago, while nobody sent events, is not reported. */
const REPORTED_DAYS = 7;
/** So many subjects of refusals are remembered; of others the store is asked again. */
const KNOWN_MAX = 10_000;
/** So many refusals wait to be reported; of further ones, the next is. */
const REFUSED_MAX = 500;
/** How long a refusal for credit need not be looked at again: whether credit was added since is only known to the store. */
const CREDIT_AGAIN_MS = 1000;
/** The same for others: a failover of the store may have lost what was reported. */
const REFUSED_AGAIN_MS = 10_000;
/** Events that are due do not wait longer for refusals that are being reported. */
const REPORTED_WITHIN_MS = 1000;
/** How often a team is read again because another process has just reported something of it. */
const ATTEMPTS_MAX = 5;
/** How long a limit that has ended is remembered: another process may report a refusal of its last moment later. */
const LIMIT_REMEMBERED_MS = 60_000;

/** What has been reported of a team. */
interface Reported {
  /** The last finished day, and the last closed period. */
  readonly day: number;
  readonly period: number;
  /** The one that ran then; absent while one before it is not closed. Until it ends, no periods need be read. */
  readonly running?: number | undefined;
  /** The highest percentage of each period since, by its number. */
  readonly percents: Readonly<Record<number, number>>;
  /** The balance when it was last looked at. */
  readonly balanceMicro: Micro;
  /** Limits for which a refusal was reported, by the event's id: when another one can be, and this is forgotten. */
  readonly limits: Readonly<Record<string, number>>;
  /** Of credit: how many refusals were, and in which period credit had last been added by then, and how much. */
  readonly credit?: { readonly nth: number; readonly period: number; readonly addedMicro: Micro } | undefined;
}

/** A refusal that may have to be reported. */
interface Refused {
  /** The same for all refusals of which only the first is reported. */
  readonly subject: string;
  /** Until when another one is not reported; of credit, until when it is not looked at. */
  readonly untilMs: number;
  readonly teamId: string;
  /** Those to reserve; `undefined` if none would have been. */
  readonly characters: number | undefined;
  readonly refusal: QuotaExceeded | CreditExhausted | RateLimited;
  /** Empty for the team's. */
  readonly whose: { readonly keyId?: string; readonly tag?: string; readonly testKeys?: true };
}

/** A team as it is found. */
interface Found {
  readonly team: Team;
  /** Newest first; the first is the current one. Empty if there is nothing to report of them. */
  readonly periods: readonly PeriodUse[];
  /** Those that have ended and were not reported. */
  readonly days: readonly KeyDay[];
  /** Of the current period, if an event may need it. */
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
  /** Subjects of refusals that are being reported, or were, and until when they need not be looked at. */
  readonly #known = new Map<string, number>();
  #reporting: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Whom the ledger charges or refuses is looked at soon. */
  watched(ledger: Ledger): Ledger {
    const { nowMs } = this.#parts;
    const refusals = <Answer extends Admission | CheckedCaller>(asked: (AdmissionRequest | CallerCheck) & Callbacks<Answer>) => {
      const askedAtMs = nowMs();
      return noticing(asked, (answer) => this.#note(refusedFor(asked, answer, askedAtMs)));
    };
    return {
      admit: (asked) => ledger.admit({ ...asked, ...refusals(asked) }),
      check: (asked) => ledger.check({ ...asked, ...refusals(asked) }),
      resolve: (asked) =>
        ledger.resolve({ ...asked, ...noticing(asked, ({ kind }) => kind === 'committed' && this.#charge(asked.teamId)) }),
    };
  }

  /** Looks at the next teams before it lists what is due. */
  before(outbox: Outbox): Outbox {
    // A plugin's may be an instance of a class.
    return {
      pending: () => outbox.pending(),
      due: async (limit) => {
        await Promise.race([this.#reporting, delay(REPORTED_WITHIN_MS, undefined, { ref: false })]);
        await this.#look();
        return outbox.due(limit);
      },
      read: (event) => outbox.read(event),
      remove: (event) => outbox.remove(event),
      postpone: (event, delayMs) => outbox.postpone(event, delayMs),
      lease: (holder, forMs) => outbox.lease(holder, forMs),
      release: (holder) => outbox.release(holder),
    };
  }

  #note(refused: Refused | undefined): void {
    const { nowMs } = this.#parts;
    if (refused === undefined || this.#waiting >= REFUSED_MAX || nowMs() < (this.#known.get(refused.subject) ?? -Infinity)) return;
    if (this.#known.size >= KNOWN_MAX) for (const [subject, untilMs] of this.#known) if (untilMs < Infinity) this.#known.delete(subject);
    // Until it is reported, others of the flood do not look as well.
    this.#known.set(refused.subject, Infinity);
    this.#waiting++;
    this.#reporting = this.#reporting.then(async () => {
      const isReported = await this.#report(refused.teamId, refused).catch(() => false);
      this.#waiting--;
      if (isReported) this.#known.set(refused.subject, Math.min(refused.untilMs, nowMs() + REFUSED_AGAIN_MS));
      else this.#known.delete(refused.subject);
    });
  }

  #charge(teamId: string): void {
    if (this.#charged.size < CHARGED_MAX) this.#charged.add(teamId);
    if (!this.#isLooking) void this.#lookAtCharged();
  }

  async #lookAtCharged(): Promise<void> {
    this.#isLooking = true;
    for (const teamId of this.#charged) {
      await delay(CHARGED_EVERY_MS, undefined, { ref: false });
      this.#charged.delete(teamId);
      // What is missed is found later.
      await this.#report(teamId).catch(() => undefined);
    }
    this.#isLooking = false;
  }

  /** What the store does not answer is looked at again later. */
  async #look(): Promise<void> {
    const { teams, nowMs } = this.#parts;
    if (Math.abs(nowMs() - this.#againAtMs) < AGAIN_MS) return;
    const page = await teams.pageTeams({ after: this.#after, limit: TEAMS_MAX, search: undefined });
    if (isUnavailable(page)) return;
    for (const { teamId } of page) await this.#report(teamId);
    this.#after = page.length < TEAMS_MAX ? undefined : page.at(-1)?.teamId;
    if (this.#after === undefined) this.#againAtMs = nowMs();
  }

  /** Reports what has not been of a team, and a refusal; false if the store does not answer, or others are always faster. */
  async #report(teamId: string, refused?: Refused): Promise<boolean> {
    const reported = await answering(async () => {
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) if (await this.#attempt(teamId, refused)) return true;
      return false;
    });
    return reported === true;
  }

  /** False if another process has reported something meanwhile, or nobody had seen the team: then it is to be read again. */
  async #attempt(teamId: string, refused: Refused | undefined): Promise<boolean> {
    const { teams, history, records, rules, nowMs } = this.#parts;
    const shared = new RecordGroup(records);
    const name: RecordName = { table: 'reported', id: teamId };
    const [before] = await shared.read([name]);
    // After that: what was reported of a deleted team is gone, and nothing more is reported.
    const team = answered(await teams.findTeam(teamId));
    if (team === undefined) return true;
    const reported = before === undefined ? undefined : (JSON.parse(before) as Reported);
    const isCalm = refused === undefined && reported !== undefined && (await this.#isCalm(teamId, reported));
    const periods = isCalm ? [] : answered(await history.periods(teamId));
    if (periods === undefined) return true;
    const write = async (value: string, events: readonly NewEvent[]): Promise<boolean> => {
      const written = await shared.change<boolean>([name], ([now], { nowMs: atMs }) => {
        if (now !== before) return { result: false };
        const stored = events.map((event) => newEvent({ ...event, teamId, atMs }));
        return { result: true, ...joined({ put: [{ ...name, value }] }, ...stored) };
      });
      return written!;
    };
    const today = dayOf(nowMs());
    if (reported === undefined) {
      await write(JSON.stringify(firstSeen(periods, today)), []);
      return false;
    }
    const [from, to] = [Math.max(reported.day + 1, today - REPORTED_DAYS), today - 1];
    const days = from > to ? [] : (answered(await history.days(teamId, { from, to }))?.days ?? []);
    const [current] = periods;
    const isUsed = refused !== undefined || (current !== undefined && percentsOf(rules, reported, current).length > 0);
    const usage = isUsed ? answered(await teams.usage(teamId)) : undefined;
    if (isUsed && usage === undefined) return true;
    const { next, events } = unreported(rules, reported, { team, periods, days, usage }, refused, nowMs());
    const value = JSON.stringify(next);
    return value === before || write(value, events);
  }

  /** Whether the same period runs and has reached no further percentage: periods are sums over all that was ever charged. */
  async #isCalm(teamId: string, reported: Reported): Promise<boolean> {
    const { teams, records, rules } = this.#parts;
    const head = await new RecordGroup(records, teamId).head();
    if (head?.limits === undefined || head.period === undefined) return false;
    const { number, endMs } = head.period;
    if (number !== reported.running || endMs <= head.nowMs) return false;
    const standing = answered(await teams.standing(teamId));
    if (standing === undefined) return false;
    const { usedCharacters: characters, allowanceUsed } = standing;
    return percentsOf(rules, reported, { number, limits: head.limits, characters, allowanceUsed }).length === 0;
  }
}

function noticing<Answer>(asked: Callbacks<Answer>, notice: (answer: Answer) => void): Callbacks<Answer> {
  return {
    answered: (answer) => {
      notice(answer);
      asked.answered(answer);
    },
    failed: (error) => asked.failed(error),
  };
}

/** Of what ended before nothing is reported. A team that is in its first period has begun with the credit that it was given. */
function firstSeen([current]: readonly PeriodUse[], today: number): Reported {
  const { number, credit } = current!;
  const balanceMicro = number === 1 ? credit.addedMicro : credit.balanceMicro;
  return { day: today - 1, period: number - 1, percents: {}, balanceMicro, limits: {} };
}

/** What is to be reported of a team, and what has been reported of it then. */
function unreported(
  rules: EventRules,
  reported: Reported,
  { team, periods, days, usage }: Found,
  refused: Refused | undefined,
  nowMs: number,
): { readonly next: Reported; readonly events: readonly NewEvent[] } {
  const { teamId, balanceMicro } = team;
  const isNews = ({ number }: PeriodUse): boolean => number > reported.period;
  const isRecent = ({ endMs }: PeriodUse): boolean => endMs > nowMs - REPORTED_DAYS * DAY_MS;
  const ended = periods.filter((one) => isNews(one) && one.closed).toReversed();
  const period = ended.at(-1)?.number ?? reported.period;
  const running = periods.length === 0 ? reported.running : runningOf(periods);
  const events: NewEvent[] = [];
  const percents = Object.fromEntries(Object.entries(reported.percents).filter(([number]) => Number(number) > period));
  for (const one of periods.filter(isNews).toReversed()) {
    const reached = isRecent(one) ? percentsOf(rules, reported, one) : [];
    const then = one === periods[0] && usage !== undefined ? usage : usageOf(team, one);
    for (const percent of reached)
      events.push({ id: eventIds.quota(teamId, one, percent), facts: { kind: 'quota_threshold', percent, usage: then } });
    const last = reached.at(-1);
    if (one.number > period && last !== undefined) percents[one.number] = last;
  }
  for (const one of ended.filter((each) => isRecent(each) && each.characters > 0))
    events.push({ id: eventIds.period(teamId, one), facts: { kind: 'period_closed', period: one } });
  events.push(...daysOf(teamId, days), ...creditOf(rules, team, reported.balanceMicro, balanceMicro, nowMs));
  const limits = Object.fromEntries(Object.entries(reported.limits).filter(([, untilMs]) => untilMs + LIMIT_REMEMBERED_MS > nowMs));
  const limit = refused && newLimit(refused, periods, { ...reported, limits });
  if (limit !== undefined) {
    // Of the period of the refusal, if that has ended by now.
    const { refusal, untilMs } = refused!;
    const isOfPeriod = refusal.kind === 'quota_exceeded' && refusal.window === undefined;
    const then = periods.find(({ endMs }) => isOfPeriod && endMs === untilMs);
    const known = then === undefined || usage!.periodEndMs === then.endMs ? usage! : usageOf(usage!.team, then);
    events.push({ id: limit.id, facts: factsOf(refused!, known) });
  }
  const { credit } = reported;
  return {
    next: { day: Math.max(reported.day, dayOf(nowMs) - 1), period, running, percents, balanceMicro, limits, credit, ...limit?.next },
    events,
  };
}

function runningOf([current, ...others]: readonly PeriodUse[]): Reported['running'] {
  return others.every(({ closed }) => closed) ? current!.number : undefined;
}

/** The percentages that a period has reached and that were not reported. */
function percentsOf(
  rules: EventRules,
  reported: Reported,
  { number, limits, characters, allowanceUsed }: Pick<PeriodUse, 'number' | 'limits' | 'characters' | 'allowanceUsed'>,
): readonly number[] {
  if (limits.billing !== 'quota') return [];
  return percentsReached(rules, limits.characterLimit, reported.percents[number] ?? 0, characters - allowanceUsed);
}

/** Of a period that has ended; it is not known which keys have used it. */
function usageOf(team: Team, { plan, limits, startMs, endMs, characters, allowanceUsed }: PeriodUse): Usage {
  return { team: { ...team, plan, limits }, periodStartMs: startMs, periodEndMs: endMs, characters, allowanceUsed, keys: [] };
}

function daysOf(teamId: string, days: readonly KeyDay[]): NewEvent[] {
  return [...Map.groupBy(days, ({ day }) => day)].map(([day, keys]) => {
    const sum = (name: 'characters' | 'requests'): number => keys.reduce((all, one) => all + one[name], 0);
    const [characters, requests] = [sum('characters'), sum('requests')];
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

/** `askedAtMs`: when the ledger was asked, so not after its answer. */
function refusedFor(asked: AdmissionRequest | CallerCheck, answer: Admission | CheckedCaller, askedAtMs: number): Refused | undefined {
  const { teamId, keyId, tag } = asked;
  const characters = 'reserve' in asked && asked.reserve ? (asked.charged ?? asked.characters) : undefined;
  if (answer.kind === 'credit_exhausted')
    return { subject: `${teamId} credit`, untilMs: askedAtMs + CREDIT_AGAIN_MS, teamId, characters, refusal: answer, whose: {} };
  const isOfWindow = answer.kind === 'rate_limited' && answer.window !== undefined;
  if (answer.kind !== 'quota_exceeded' && !isOfWindow) return undefined;
  const { of } = answer;
  const ofTag = of === 'tag' && tag !== undefined ? { tag: tag.name } : undefined;
  const whose = of === 'key' ? { keyId } : (ofTag ?? (of === 'test_keys' ? { testKeys: true as const } : {}));
  const untilMs =
    answer.kind === 'quota_exceeded' ? answer.periodEndMs : windowAt(answer.window!.per, askedAtMs + answer.retryAfterMs - 1).endMs;
  const subject = `${teamId} ${JSON.stringify(whose)} ${answer.window?.per ?? ''} ${untilMs}`;
  return { subject, untilMs, teamId, characters, refusal: answer, whose };
}

/** The event of a refusal, and what changes in what was reported; `undefined` if it was reported. */
function newLimit(
  { teamId, refusal, whose, untilMs }: Refused,
  periods: readonly PeriodUse[],
  { limits, credit }: Reported,
): { readonly id: string; readonly next: Partial<Reported> } | undefined {
  if (refusal.kind === 'credit_exhausted') {
    // What is added in the moment between the refusal and this counts as before it.
    const last = periods.find((one) => one.credit.addedMicro > 0);
    const [period, addedMicro] = [last?.number ?? 0, last?.credit.addedMicro ?? 0];
    const isAdded = credit === undefined || period > credit.period || (period === credit.period && addedMicro > credit.addedMicro);
    const nth = (credit?.nth ?? 0) + 1;
    return isAdded ? { id: eventIds.creditLimit(teamId, nth), next: { credit: { nth, period, addedMicro } } } : undefined;
  }
  const of = whose.tag === undefined ? (whose.keyId ?? teamId) : eventIds.ofTag(teamId, whose.tag);
  const period = periods.find(({ endMs }) => endMs === untilMs);
  const ofPeriod = period && (whose.testKeys === true ? eventIds.testLimit(teamId, period) : eventIds.quotaLimit(of, period));
  const { window } = refusal;
  const id = window === undefined ? ofPeriod : eventIds.windowLimit(of, window.per, windowAt(window.per, untilMs - 1).startMs);
  return id === undefined || limits[id] !== undefined ? undefined : { id, next: { limits: { ...limits, [id]: untilMs } } };
}

function factsOf({ characters, refusal, whose }: Refused, usage: Usage): LimitReached {
  const common = { kind: 'limit_reached', ...whose, usage } as const;
  if (refusal.kind === 'credit_exhausted') {
    return { ...common, code: 'credit_exhausted', requiredMicro: costMicro(characters!, usage.team.limits.minorPerMillion) };
  }
  if (refusal.window === undefined) return { ...common, code: 'quota_exceeded', requiredCharacters: characters! };
  return { ...common, code: refusal.kind, window: refusal.window, requiredCharacters: characters };
}
