// Part of the store contract: what an invoice needs of each period, in whole millionths, and the periods of all teams in a span.
import { spentIn, DAY_MS } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { PeriodUse, TeamPeriods } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const SHORT = { ...PREPAID, period: 'PT2S', balanceMicro: 1_000_000 };

export function invoiceContract(it: AddStoreCase, subject: Subject): void {
  /** Oldest first. */
  const all = async (team: TeamUnderTest): Promise<readonly PeriodUse[]> =>
    answered(await subject.again.history.periods(team.teamId))!.toReversed();
  const credits = async (team: TeamUnderTest): Promise<readonly (readonly number[])[]> =>
    (await all(team)).map(({ credit: kept }) => [kept.openingMicro, kept.addedMicro, kept.deductedMicro, spentIn(kept), kept.balanceMicro]);
  const requests = async (team: TeamUnderTest): Promise<readonly number[]> => (await all(team)).map((one) => one.requests);
  const add = async (team: TeamUnderTest, addMicro: number): Promise<void> =>
    void answered(await subject.store.teams.updateTeam(team.teamId, { addMicro }));

  it.team('the balance that a team begins with is credit added in its first period', SHORT, async (team) => {
    expect(await credits(team)).toEqual([[0, 1_000_000, 0, 0, 1_000_000]]);
  });

  it.team('a period counts the credit added, deducted and spent, and the next one begins with what is left', SHORT, async (team) => {
    await team.use(7);
    await add(team, 500);
    await add(team, -200);
    expect(await credits(team)).toEqual([[0, 1_000_500, 200, 17_500, 982_800]]);
    subject.clock.step(2000);
    await add(team, 1);
    await team.use(2);
    const first = [0, 1_000_500, 200, 17_500, 982_800];
    expect(await credits(team)).toEqual([first, [982_800, 1, 0, 5000, 977_801]]);
    subject.clock.step(2000);
    expect((await credits(team)).slice(0, 2)).toEqual([first, [982_800, 1, 0, 5000, 977_801]]);
  });

  it.team(
    'what was reserved in a period and settled later is spent in that period, at the price it was reserved at',
    SHORT,
    async (team) => {
      const late = await team.reserve(10);
      subject.clock.step(2000);
      await team.use(1);
      await team.setLimits({ ...PREPAID, period: 'PT2S', minorPerMillion: 1 });
      await team.commitPart(late.requestId, 4);
      await team.use(3);
      expect(await credits(team)).toEqual([
        [0, 1_000_000, 0, 10_000, 990_000],
        [990_000, 0, 0, 2503, 987_497],
      ]);
      expect(await requests(team)).toEqual([1, 2]);
    },
  );

  it.team('periods are closed in order, because what is settled late changes the balances since', SHORT, async (team) => {
    const late = await team.reserve(10, { leaseMs: 60_000 });
    subject.clock.step(2000);
    await team.use(1);
    subject.clock.step(2000);
    await team.use(2);
    expect((await all(team)).some(({ closed }) => closed)).toBe(false);
    await team.commit(late.requestId);
    expect((await all(team)).map(({ closed }) => closed)).toEqual([true, true, false]);
    expect(await credits(team)).toEqual([
      [0, 1_000_000, 0, 25_000, 975_000],
      [975_000, 0, 0, 2500, 972_500],
      [972_500, 0, 0, 5000, 967_500],
    ]);
  });

  it.team('a period in which only credit was moved is kept, one without anything is not', SHORT, async (team) => {
    subject.clock.step(2000);
    await team.touch();
    subject.clock.step(2000);
    await add(team, 5);
    await add(team, -5);
    subject.clock.step(2000);
    const kept = (await all(team)).slice(0, -1).filter(({ credit }) => credit.addedMicro > 0);
    expect(kept.map(({ characters, requests: count, closed }) => [characters, count, closed])).toEqual([
      [0, 0, true],
      [0, 0, true],
    ]);
  });

  it.team('so is one that cannot be closed yet', SHORT, async (team) => {
    const late = await team.reserve(1, { leaseMs: 60_000 });
    subject.clock.step(2000);
    const ended = (await all(team)).map(({ characters, closed }) => [characters, closed]);
    expect(ended).toEqual([
      [0, false],
      [0, false],
    ]);
    await team.release(late.requestId);
    expect((await all(team)).map(({ closed }) => closed)).toEqual([true, false]);
  });

  it('another length of periods: the credit of both is counted where it was moved', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, period: 'P1D' }, 100_000);
    await team.use(4);
    const limits = { ...PREPAID, period: 'PT1H' };
    answered(await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'hourly', limits }, addMicro: 7 }));
    expect(await credits(team)).toEqual([
      [0, 100_000, 0, 10_000, 90_000],
      [90_000, 7, 0, 0, 90_007],
    ]);
  });

  it('a page of periods has those whose last moment is in the span, and on demand those that run in it', async () => {
    const { history } = subject.again;
    const page = async (team: TeamUnderTest, fromMs: number, endMs: number, open = false): Promise<TeamPeriods> => {
      const found = answered(await history.pagePeriods({ after: undefined, limit: 10, search: team.teamId }, { fromMs, endMs, open }));
      expect(found).toHaveLength(1);
      return found[0]!;
    };
    const numbers = ({ periods }: TeamPeriods): number[] => periods.map(({ number }) => number);
    const team = await teamUnderTest(subject.store, { period: 'P1D' });
    const startMs = subject.clock.nowMs();
    await team.use(1);
    subject.clock.step(DAY_MS);
    await team.use(2);
    subject.clock.step(DAY_MS);
    await team.use(3);
    expect(numbers(await page(team, startMs, startMs + DAY_MS))).toEqual([1]);
    expect(numbers(await page(team, startMs + 1, startMs + DAY_MS - 1))).toEqual([]);
    expect(numbers(await page(team, startMs + DAY_MS, startMs + 9 * DAY_MS))).toEqual([2]);
    expect(numbers(await page(team, startMs, startMs + 9 * DAY_MS, true))).toEqual([1, 2, 3]);
    expect(numbers(await page(team, startMs, startMs + DAY_MS, true))).toEqual([1]);
    expect((await page(team, startMs, startMs + DAY_MS)).periods).toEqual((await all(team)).slice(0, 1));
    expect((await page(team, startMs, startMs + 9 * DAY_MS, true)).deleted).toBe(false);
  });

  it('a deleted team whose usage was kept has its periods in the page, with the credit that was left', async () => {
    const { teams, history } = subject.store;
    const team = await teamUnderTest(subject.store, { ...PREPAID, period: 'P1D' }, 50_000);
    const startMs = subject.clock.nowMs();
    await team.use(4);
    await team.reserve(5);
    answered(await teams.deleteTeam(team.teamId, { keepUsage: true }));
    const span = { fromMs: startMs, endMs: startMs + DAY_MS, open: false };
    const [found] = answered(await history.pagePeriods({ after: undefined, limit: 10, search: team.teamId }, span));
    expect(found).toMatchObject({ deleted: true, team: { name: '' }, periods: [{ closed: true, characters: 4, requests: 1 }] });
    expect(found!.periods[0]!.credit).toEqual({ openingMicro: 0, addedMicro: 50_000, deductedMicro: 0, balanceMicro: 40_000 });
    answered(await teams.deleteTeam(team.teamId, { keepUsage: false }));
    expect(answered(await history.pagePeriods({ after: undefined, limit: 10, search: team.teamId }, span))).toEqual([]);
  });
}
