// Usage by day and by period in Redis: sums of what was charged (`:days`), and the periods that have ended (`:periods`).
import { movedCredit, isInSpan } from '../../domain/period.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { KeyRecord, Team, TeamPage } from '../../ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodSpan, PeriodUse, TeamDays, TeamPeriods, UsageHistory } from '../../ports/usage-history.ts';
import { groupKey, OF_TEAM } from './redis-keys.ts';
import { keysOf } from './redis-team-registry.ts';
import type { TeamAccounts, HashDraft } from './team-accounts.ts';
import { FIELD, idIn, readBalance, readEndedPeriod, readOpen, readPeriod, readTeam, readUses as usesIn } from './team-fields.ts';
import type { EndedPeriod, Use } from './team-fields.ts';
import { isFound } from './team-index.ts';
import type { TeamIndex } from './team-index.ts';
import type { DeletedTeam } from './redis-team-erasure.ts';

export class RedisUsageHistory implements UsageHistory {
  readonly #accounts: TeamAccounts;
  readonly #index: TeamIndex;

  constructor(accounts: TeamAccounts, index: TeamIndex) {
    this.#accounts = accounts;
    this.#index = index;
  }

  days(teamId: string, range: DayRange): Promise<TeamDays | undefined | StoreUnavailable> {
    return answering(() => this.#days(teamId, range));
  }

  pageDays(page: TeamPage, range: DayRange): Promise<readonly TeamDays[] | StoreUnavailable> {
    return answering(() => this.#index.page(page, (teamId) => this.#days(teamId, range, page)));
  }

  periods(teamId: string): Promise<readonly PeriodUse[] | undefined | StoreUnavailable> {
    return answering(async () => (await this.#periods(teamId))?.periods.toReversed());
  }

  pagePeriods(page: TeamPage, span: PeriodSpan): Promise<readonly TeamPeriods[] | StoreUnavailable> {
    return answering(() =>
      this.#index.page(page, async (teamId) => {
        const found = await this.#periods(teamId, page);
        return found && { ...found, periods: found.periods.filter((period) => isInSpan(period, span)) };
      }),
    );
  }

  async #days(teamId: string, { from, to }: DayRange, page?: TeamPage): Promise<TeamDays | undefined> {
    const [draft, nowMs] = await Promise.all([this.#accounts.read(teamId), this.#accounts.link.now()]);
    const found = shownTeam(draft);
    if (found === undefined || (page !== undefined && !isFound(found.team, page))) return undefined;
    const keys = keysOf(draft, nowMs);
    const uses = (await readUses(this.#accounts, teamId)).filter(({ day }) => day >= Math.max(0, from) && day <= to);
    const days = daysOf(uses, keys);
    return { team: found.team, keys: keys.filter(({ keyId }) => days.some((day) => day.keyId === keyId)), days };
  }

  /** Oldest first. */
  async #periods(teamId: string, page?: TeamPage): Promise<TeamPeriods | undefined> {
    const first = await this.#accounts.read(teamId);
    const isGone = first.read.has(FIELD.deleted);
    // What can be closed is closed first.
    const draft = isGone ? first : await this.#accounts.change(teamId, (open) => (open.draft.isChanged ? undefined : open.draft));
    const read = draft ?? (await this.#accounts.read(teamId));
    const found = shownTeam(read);
    if (found === undefined || (page !== undefined && !isFound(found.team, page))) return undefined;
    return { ...found, periods: periodsOf(found, read, await readUses(this.#accounts, teamId), await readEnded(this.#accounts, teamId)) };
  }
}

export async function readUses({ link }: TeamAccounts, teamId: string): Promise<readonly Use[]> {
  return usesIn(await link.ask((redis) => redis.hgetall(groupKey(teamId) + OF_TEAM.days)));
}

/** Oldest first. */
export async function readEnded({ link }: TeamAccounts, teamId: string): Promise<readonly EndedPeriod[]> {
  const texts = Object.values(await link.ask((redis) => redis.hgetall(groupKey(teamId) + OF_TEAM.periods)));
  return texts.map(readEndedPeriod).toSorted((one, other) => one.number - other.number);
}

/** `deleted`: only the usage is kept. `undefined` if there is nothing. */
export function shownTeam(draft: HashDraft): Omit<TeamPeriods, 'periods'> | undefined {
  const [text, gone] = [draft.read.get(FIELD.team), draft.read.get(FIELD.deleted)];
  if (text !== undefined) return { team: readTeam(text, draft.read.get(FIELD.balance)), deleted: false };
  if (gone === undefined) return undefined;
  const { teamId, plan, limits, createdAtMs, keepUsage } = JSON.parse(gone) as DeletedTeam;
  const team: Team = { teamId, name: '', plan, limits, balanceMicro: 0, createdAtMs };
  return keepUsage ? { team, deleted: true } : undefined;
}

/** By day, and within a day by the creation of the key. */
export function daysOf(uses: readonly Use[], keys: readonly Pick<KeyRecord, 'keyId'>[]): KeyDay[] {
  const order = new Map(keys.map(({ keyId }, i) => [keyId, i]));
  const days = new Map<string, KeyDay>();
  for (const { day, keyId, characters, requests } of uses) {
    const had = days.get(`${day} ${keyId}`) ?? { characters: 0, requests: 0 };
    days.set(`${day} ${keyId}`, { day, keyId, characters: had.characters + characters, requests: had.requests + requests });
  }
  return [...days.values()].toSorted((one, other) => one.day - other.day || order.get(one.keyId)! - order.get(other.keyId)!);
}

/**
 * Oldest first: those that have ended, and the one that runs. A balance follows from the one after it: what is settled late lowers that of
 * the period in which it was reserved.
 */
export function periodsOf(
  { team, deleted }: Omit<TeamPeriods, 'periods'>,
  draft: HashDraft,
  uses: readonly Use[],
  ended: readonly EndedPeriod[],
): PeriodUse[] {
  const running = draft.read.get(FIELD.period);
  const all = running === undefined || deleted ? ended : [...ended, { ...readPeriod(running), plan: team.plan, limits: team.limits }];
  const open = [...draft.read].flatMap(([field, text]) => (idIn(field, 'open:') === undefined ? [] : readOpen(text).period));
  const firstOpen = Math.min(...open);
  const tests = new Set(keysOf(draft, 0).flatMap(({ keyId, mode }) => (mode === 'test' ? keyId : [])));
  const periods: PeriodUse[] = [];
  const gone = draft.read.get(FIELD.deleted);
  let balanceMicro = gone === undefined ? readBalance(draft.read.get(FIELD.balance)).micro : (JSON.parse(gone) as DeletedTeam).balanceMicro;
  for (const [i, { number, startMs, endMs, plan, limits, addedMicro, deductedMicro }] of all.toReversed().entries()) {
    const of = uses.filter(({ period }) => period === number);
    const total = (value: (use: Use) => number): number => of.reduce((sum, use) => sum + value(use), 0);
    const openingMicro = balanceMicro - addedMicro + deductedMicro + total(({ micro }) => micro);
    periods.push({
      number,
      startMs,
      endMs,
      closed: (i > 0 || deleted) && number < firstOpen,
      plan,
      limits,
      characters: total(({ characters }) => characters),
      allowanceUsed: total(({ free }) => free),
      testCharacters: total(({ keyId, characters }) => (tests.has(keyId) ? characters : 0)),
      requests: total(({ requests }) => requests),
      credit: { openingMicro, addedMicro, deductedMicro, balanceMicro },
    });
    balanceMicro = openingMicro;
  }
  periods.reverse();
  return deleted ? periods.filter(({ characters, credit }) => characters > 0 || movedCredit(credit)) : periods;
}
