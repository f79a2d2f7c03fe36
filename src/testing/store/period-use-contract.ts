// Part of the store contract: the usage of each period of a team, what an invoice needs of it in whole millionths, and the periods of all
// teams in a span.
import { spentIn, DAY_MS } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { PeriodUse, TeamPeriods } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { START_MS } from '../movable-clock.ts';
import { play } from './steps.ts';
import { GENEROUS_QUOTA, newId, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const SHORT = { ...GENEROUS_QUOTA, period: 'PT2S' };
const SHORT_CREDIT = { ...PREPAID, period: 'PT2S', balanceMicro: 1_000_000 };

export function periodUseContract(it: AddStoreCase, subject: Subject): void {
  const all = async (team: TeamUnderTest, store = subject.again): Promise<readonly PeriodUse[]> =>
    answered(await store.history.periods(team.teamId))!;
  /** Past periods with usage: others may be missing. */
  const past = async (team: TeamUnderTest): Promise<readonly PeriodUse[]> =>
    (await all(team)).slice(1).filter(({ characters }) => characters > 0);
  /** Plays steps, after which these are the past periods. */
  const ends = async (team: TeamUnderTest, steps: string, ...ended: readonly (readonly [characters: number, closed: boolean])[]) => {
    await play(subject, team, steps);
    expect((await past(team)).map(({ characters, closed }) => [characters, closed])).toEqual(ended);
  };

  it.team('the current period comes first, with its current counts', SHORT, async (team) => {
    await play(subject, team, 'use 7; hold a 5');
    const [running, ...earlier] = await all(team);
    const bounds = { startMs: START_MS, endMs: START_MS + 2000 };
    expect(running).toMatchObject({ ...bounds, closed: false, plan: 'test', limits: SHORT, characters: 7 });
    expect(earlier).toEqual([]);
    expect(await subject.store.history.periods(newId())).toBeUndefined();
  });

  it.team('past periods are closed, with what their keys were charged, newest first and each with a unique number', SHORT, async (team) => {
    const key = team.withKey((await team.newKey()).keyId);
    await play(subject, team, 'use 7');
    await play(subject, key, 'use 20; wait 2000; use 3; hold a 100; release a; wait 2000');
    const held = { closed: true, plan: 'test', limits: SHORT };
    expect(await past(team)).toMatchObject([
      { ...held, startMs: START_MS + 2000, endMs: START_MS + 4000, characters: 3 },
      { ...held, startMs: START_MS, endMs: START_MS + 2000, characters: 27 },
    ]);
    const periods = await all(team);
    expect(periods[0]).toMatchObject({ startMs: START_MS + 4000, closed: false, characters: 0 });
    expect(new Set(periods.map(({ number }) => number)).size).toBe(periods.length);
    expect(await all(team, subject.store)).toEqual(periods);
  });

  it.team('a period is not closed while a reservation of it is open, and counts later commits of it', SHORT, async (team) => {
    await ends(team, 'use 1; hold a 10; hold b 100; hold c 1000 for 5000; wait 2000; use 2000', [1, false]);
    await ends(team, 'commit a', [11, false]);
    await ends(team, 'release b', [11, false]);
    await ends(team, 'wait 3000', [2000, true], [11, true]);
  });

  it.team('a closed period never changes: not by charges, nor by another plan, name or key', SHORT, async (team) => {
    await play(subject, team, 'use 7; wait 2000');
    const [closed] = await past(team);
    await team.use(9);
    const limits = { ...PREPAID, characterLimit: 0, currency: 'CHF' };
    answered(await subject.store.teams.updateTeam(team.teamId, { name: 'Other', plan: { name: 'other', limits }, addMicro: 1_000_000 }));
    await team.revoke();
    subject.clock.step(DAY_MS);
    expect((await past(team)).at(-1)).toEqual(closed);
    expect(closed).toMatchObject({ characters: 7, plan: 'test', limits: SHORT });
  });

  it.team('a period has the last plan that applied to it, even without activity between its end and a plan change', SHORT, async (team) => {
    const give = async (name: string, limits: typeof SHORT): Promise<void> =>
      void answered(await subject.store.teams.updateTeam(team.teamId, { plan: { name, limits } }));
    const doubled = { ...SHORT, characterLimit: SHORT.characterLimit * 2 };
    await team.use(7);
    await give('bigger', doubled);
    subject.clock.step(2000);
    await give('small', { ...SHORT, characterLimit: 5 });
    expect(await past(team)).toMatchObject([{ plan: 'bigger', limits: doubled, characters: 7, closed: true }]);
    expect((await all(team))[0]).toMatchObject({ plan: 'small', limits: { characterLimit: 5 } });
  });

  it('a different length closes the current period at the change, under the old plan, and its open reservations are charged to it', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 100, period: 'PT60S' });
    const limits = { ...GENEROUS_QUOTA, characterLimit: 100, period: 'PT60S' };
    const bounds = { startMs: START_MS, endMs: START_MS + 5000, plan: 'test', limits };
    await play(subject, team, 'use 7; hold open 5; wait 5000');
    await team.setLimits({ characterLimit: 9, period: 'PT1H' });
    expect(await past(team)).toMatchObject([{ ...bounds, closed: false, characters: 7 }]);
    await play(subject, team, 'commit open; use 3');
    expect(await past(team)).toMatchObject([{ ...bounds, closed: true, characters: 12 }]);
    expect((await all(team))[0]).toMatchObject({ startMs: START_MS + 5000, characters: 3, limits: { characterLimit: 9 } });
  });

  it.team('days and periods have the same total', { period: 'PT7H' }, async (team) => {
    let charged = 0;
    for (let n = 1; n <= 12; n++) {
      await play(subject, team, `use ${n}; hold slow ${100 * n} for ${DAY_MS}; wait ${5 * 3_600_000}; commit slow`);
      charged += 101 * n;
    }
    subject.clock.step(7 * 3_600_000);
    const periods = await all(team);
    expect(periods.reduce((sum, { characters }) => sum + characters, 0)).toBe(charged);
    expect(periods.slice(1).every(({ closed }) => closed)).toBe(true);
    const day = Math.floor(START_MS / DAY_MS);
    const { days } = answered(await subject.store.history.days(team.teamId, { from: day, to: day + 5 }))!;
    expect(days.reduce((sum, { characters }) => sum + characters, 0)).toBe(charged);
    expect(days.reduce((sum, { requests }) => sum + requests, 0)).toBe(24);
  });
}

export function invoiceContract(it: AddStoreCase, subject: Subject): void {
  /** Oldest first. */
  const all = async (team: TeamUnderTest): Promise<readonly PeriodUse[]> =>
    answered(await subject.again.history.periods(team.teamId))!.toReversed();
  /** Of each period: what it began with, what was added, deducted and spent, and what is left. */
  const expectCredits = async (team: TeamUnderTest, ...expected: readonly (readonly number[])[]): Promise<void> => {
    const credits = (await all(team)).map(({ credit }) => credit);
    const numbers = credits.map((one) => [one.openingMicro, one.addedMicro, one.deductedMicro, spentIn(one), one.balanceMicro]);
    expect(numbers).toEqual(expected);
  };
  const closed = async (team: TeamUnderTest): Promise<readonly boolean[]> => (await all(team)).map((one) => one.closed);
  const add = async (team: TeamUnderTest, addMicro: number): Promise<void> =>
    void answered(await subject.store.teams.updateTeam(team.teamId, { addMicro }));
  const page = async (team: TeamUnderTest, fromMs: number, endMs: number, open = false): Promise<readonly TeamPeriods[]> =>
    answered(await subject.again.history.pagePeriods({ after: undefined, limit: 10, search: team.teamId }, { fromMs, endMs, open }));

  it.team('a period counts the credit added, deducted and spent, and the next one begins with what is left', SHORT_CREDIT, async (team) => {
    await expectCredits(team, [0, 1_000_000, 0, 0, 1_000_000]);
    await team.use(7);
    await add(team, 500);
    await add(team, -200);
    const first = [0, 1_000_500, 200, 17_500, 982_800];
    await expectCredits(team, first);
    subject.clock.step(2000);
    await add(team, 1);
    await team.use(2);
    const second = [982_800, 1, 0, 5000, 977_801];
    await expectCredits(team, first, second);
    subject.clock.step(2000);
    await expectCredits(team, first, second, [977_801, 0, 0, 0, 977_801]);
  });

  it.team(
    'what was reserved in a period and settled later is spent in that period, at the price it was reserved at',
    SHORT_CREDIT,
    async (team) => {
      await play(subject, team, 'hold slow 10; wait 2000; use 1');
      await team.setLimits({ ...PREPAID, period: 'PT2S', minorPerMillion: 1 });
      await play(subject, team, 'commit slow 4; use 3');
      await expectCredits(team, [0, 1_000_000, 0, 10_000, 990_000], [990_000, 0, 0, 2503, 987_497]);
      expect((await all(team)).map(({ requests }) => requests)).toEqual([1, 2]);
    },
  );

  it.team(
    'periods are closed in order, because what is settled after its period changes the balances since',
    SHORT_CREDIT,
    async (team) => {
      await play(subject, team, 'hold slow 10 for 60000; wait 2000; use 1; wait 2000; use 2');
      expect((await closed(team)).includes(true)).toBe(false);
      await play(subject, team, 'commit slow');
      expect(await closed(team)).toEqual([true, true, false]);
      await expectCredits(team, [0, 1_000_000, 0, 25_000, 975_000], [975_000, 0, 0, 2500, 972_500], [972_500, 0, 0, 5000, 967_500]);
    },
  );

  it.team('a period in which only credit was moved stays, one without anything does not', SHORT_CREDIT, async (team) => {
    await play(subject, team, 'wait 2000; touch; wait 2000');
    await add(team, 5);
    await add(team, -5);
    subject.clock.step(2000);
    const moved = (await all(team)).slice(0, -1).filter(({ credit }) => credit.addedMicro > 0);
    expect(moved).toMatchObject([0, 0].map(() => ({ characters: 0, requests: 0, closed: true })));
  });

  it.team('so is one that cannot be closed yet', SHORT_CREDIT, async (team) => {
    await play(subject, team, 'hold slow 1 for 60000; wait 2000');
    expect(await all(team)).toMatchObject([0, 0].map(() => ({ characters: 0, closed: false })));
    await play(subject, team, 'release slow');
    expect(await closed(team)).toEqual([true, false]);
  });

  it.team(
    'another length of periods: the credit of both is counted where it was moved',
    { ...SHORT_CREDIT, period: 'P1D' },
    async (team) => {
      await team.use(4);
      const limits = { ...PREPAID, period: 'PT1H' };
      answered(await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'hourly', limits }, addMicro: 7 }));
      await expectCredits(team, [0, 1_000_000, 0, 10_000, 990_000], [990_000, 7, 0, 0, 990_007]);
    },
  );

  it.team(
    'a page of periods has those whose last moment is in the span, and on demand those that run in it',
    { period: 'P1D' },
    async (team) => {
      await play(subject, team, `use 1; wait ${DAY_MS}; use 2; wait ${DAY_MS}; use 3`);
      for (const [fromMs, endMs, open, numbers] of [
        [0, DAY_MS, false, [1]],
        [1, DAY_MS - 1, false, []],
        [DAY_MS, 9 * DAY_MS, false, [2]],
        [0, 9 * DAY_MS, true, [1, 2, 3]],
        [0, DAY_MS, true, [1]],
      ] as const) {
        const [found, ...others] = await page(team, START_MS + fromMs, START_MS + endMs, open);
        expect([found!.periods.map(({ number }) => number), found!.deleted, others]).toEqual([numbers, false, []]);
      }
      expect((await page(team, START_MS, START_MS + DAY_MS))[0]!.periods).toEqual((await all(team)).slice(0, 1));
    },
  );

  it.team(
    'a deleted team whose usage stays has its periods in the page, with the credit that was left',
    { ...PREPAID, period: 'P1D', balanceMicro: 50_000 },
    async (team) => {
      const { teams } = subject.store;
      await play(subject, team, 'use 4; hold open 5');
      answered(await teams.deleteTeam(team.teamId, { keepUsage: true }));
      const [found] = await page(team, START_MS, START_MS + DAY_MS);
      expect(found).toMatchObject({ deleted: true, team: { name: '' }, periods: [{ closed: true, characters: 4, requests: 1 }] });
      expect(found!.periods[0]!.credit).toEqual({ openingMicro: 0, addedMicro: 50_000, deductedMicro: 0, balanceMicro: 40_000 });
      answered(await teams.deleteTeam(team.teamId, { keepUsage: false }));
      expect(await page(team, START_MS, START_MS + DAY_MS)).toEqual([]);
    },
  );
}
