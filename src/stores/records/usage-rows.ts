// Usage by day and by period as sums of charges: a driver reads the rows, and every figure of a history follows from them here.
import { DAY_MS, dayOf, HISTORY_DAYS, isInSpan, movedCredit } from '../../domain/period.ts';
import { answered, answeringAll } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Account } from '../../ledger/account.ts';
import type { KeyRecord, TeamPage } from '../../ports/team-registry.ts';
import type { ChargeRow, DayRange, KeyDay, PeriodUse, RunningPeriod, TeamDays, UsageHistory } from '../../ports/usage-history.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';

/** What is stored of a team's usage. */
export interface UsageRows extends Pick<WholeAccount, 'team' | 'ended' | 'openingMicro' | 'charges'> {
  /** `undefined` if only the usage is left. */
  readonly period: Omit<RunningPeriod, 'anchorMs'> | undefined;
  /** In order of creation. */
  readonly keys: readonly KeyRecord[];
  /** The first period of which a reservation is open; `Infinity` for none. */
  readonly firstOpen: number;
}

/** By day, and within a day by the creation of the key. */
export function daysOf(charges: readonly ChargeRow[], keys: readonly Pick<KeyRecord, 'keyId'>[]): KeyDay[] {
  const order = new Map(keys.map(({ keyId }, i) => [keyId, i]));
  const days = new Map<string, KeyDay>();
  for (const { day, keyId, characters, requests } of charges) {
    const had = days.get(`${day} ${keyId}`) ?? { characters: 0, requests: 0 };
    days.set(`${day} ${keyId}`, { day, keyId, characters: had.characters + characters, requests: had.requests + requests });
  }
  return [...days.values()].toSorted((one, other) => one.day - other.day || order.get(one.keyId)! - order.get(other.keyId)!);
}

/** What was charged in a period. */
export function chargedIn(charges: readonly ChargeRow[], number: number): Pick<ChargeRow, 'characters' | 'requests' | 'ofAllowance'> {
  const own = charges.filter(({ period }) => period === number);
  const sum = (name: 'characters' | 'requests' | 'ofAllowance') => own.reduce((total, charge) => total + charge[name], 0);
  return { characters: sum('characters'), requests: sum('requests'), ofAllowance: sum('ofAllowance') };
}

/** What each key was charged in a period. */
export function keysIn(charges: readonly ChargeRow[], number: number): Pick<KeyDay, 'keyId' | 'characters' | 'requests'>[] {
  const own = charges.filter(({ period }) => period === number).map((charge) => ({ ...charge, day: 0 }));
  return daysOf(own, []).map(({ day: _day, ...use }) => use);
}

type PeriodRows = Omit<UsageRows, 'keys'> & { readonly keys: readonly Pick<KeyRecord, 'keyId' | 'mode'>[] };

/** Oldest first. What is settled after its period lowers the balance of the period in which it was reserved, and all since. */
function periodsOf({ team, keys, charges, ended, period: running, openingMicro, firstOpen }: PeriodRows): PeriodUse[] {
  const tests = new Set(keys.filter(({ mode }) => mode === 'test').map(({ keyId }) => keyId));
  const byPeriod = Map.groupBy(charges, ({ period }) => period);
  const all = running === undefined ? ended : [...ended, { ...running, plan: team.plan, limits: team.limits }];
  let leftMicro = openingMicro;
  const periods = all.map(({ number, startMs, endMs, plan, limits, addedMicro, deductedMicro }): PeriodUse => {
    const own = byPeriod.get(number) ?? [];
    const total = (value: (charge: ChargeRow) => number): number => own.reduce((sum, charge) => sum + value(charge), 0);
    const credit = { openingMicro: leftMicro, addedMicro, deductedMicro };
    leftMicro += addedMicro - deductedMicro - total(({ micro }) => micro);
    return {
      number,
      startMs,
      endMs,
      closed: number !== running?.number && number < firstOpen,
      plan,
      limits,
      characters: total(({ characters }) => characters),
      allowanceUsed: total(({ ofAllowance }) => ofAllowance),
      testCharacters: total(({ keyId, characters }) => (tests.has(keyId) ? characters : 0)),
      requests: total(({ requests }) => requests),
      credit: { ...credit, balanceMicro: leftMicro },
    };
  });
  return running === undefined ? periods.filter(({ characters, credit }) => characters > 0 || movedCredit(credit)) : periods;
}

/** The open reservations of a whole account. */
export function requestsOf(account: Account | undefined): WholeAccount['requests'] {
  return [...(account?.reservations ?? [])].map(([requestId, { period, ...held }]) => ({ requestId, periodNumber: period, ...held }));
}

/** Those of a whole account, with the current one. */
export function accountPeriods(account: WholeAccount): PeriodUse[] {
  return periodsOf({ ...account, firstOpen: Math.min(...account.requests.map(({ periodNumber }) => periodNumber)) });
}

/** Which charges are read: those of days, or sums by period; then periods that can be closed are closed first. */
export type Charges = DayRange | 'by period';

/** How a driver reads rows, without those of teams that are being deleted. What the store does not answer may be thrown, too. */
export interface UsageSource {
  one(teamId: string, charges: Charges): Promise<UsageRows | undefined | StoreUnavailable>;
  /** Of a page of teams, in order of creation. */
  page(page: TeamPage, charges: Charges): Promise<readonly UsageRows[] | StoreUnavailable>;
}

/** `nowMs`: the store's time, as far as it is known without asking. */
export function rowHistory(source: UsageSource, nowMs: () => number | undefined, historyDays = HISTORY_DAYS): UsageHistory {
  const retained = ({ from, to }: DayRange): DayRange => {
    return { from: Math.max(from, 0, dayOf(nowMs() ?? 0) - historyDays), to: Math.min(to, Number.MAX_SAFE_INTEGER) };
  };
  const retainedPeriods = (rows: UsageRows): PeriodUse[] => {
    const fromMs = (nowMs() ?? 0) - historyDays * DAY_MS;
    return periodsOf(rows).filter(({ endMs, closed }) => !closed || endMs >= fromMs);
  };
  return answeringAll<UsageHistory>({
    async days(teamId, range) {
      const rows = answered(await source.one(teamId, retained(range)));
      return rows && teamDays(rows);
    },
    pageDays: async (page, range) => answered(await source.page(page, retained(range))).map(teamDays),
    async periods(teamId) {
      const rows = answered(await source.one(teamId, 'by period'));
      return rows && retainedPeriods(rows).toReversed();
    },
    async pagePeriods(page, span) {
      const periodsIn = (rows: UsageRows): PeriodUse[] => retainedPeriods(rows).filter((period) => isInSpan(period, span));
      const found = answered(await source.page(page, 'by period'));
      return found.map((rows) => ({ team: rows.team, deleted: rows.period === undefined, periods: periodsIn(rows) }));
    },
  });
}

function teamDays({ team, keys, charges }: UsageRows): TeamDays {
  const used = new Set(charges.map(({ keyId }) => keyId));
  return { team, keys: keys.filter(({ keyId }) => used.has(keyId)), days: daysOf(charges, keys) };
}
