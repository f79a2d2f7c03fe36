// Part of the store contract: the usage of each period of a team. A store without history passes.
import { answered } from '../../domain/store-unavailable.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, newId, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const SHORT = { ...GENEROUS_QUOTA, period: 'PT2S' };

export function periodUseContract(it: AddStoreCase, subject: Subject): void {
  const all = async (team: TeamUnderTest, store = subject.again): Promise<readonly PeriodUse[]> =>
    answered(await store.history.periods(team.teamId))!;
  /** Past periods with usage: others may be missing. */
  const past = async (team: TeamUnderTest): Promise<readonly PeriodUse[]> =>
    (await all(team)).slice(1).filter(({ characters }) => characters > 0);
  const ended = async (team: TeamUnderTest): Promise<readonly (readonly [characters: number, closed: boolean])[]> =>
    (await past(team)).map(({ characters, closed }) => [characters, closed]);

  it.team('the current period comes first, with its current counts', SHORT, async (team) => {
    const startMs = subject.clock.nowMs();
    await team.use(7);
    await team.reserve(5);
    const [running, ...earlier] = await all(team);
    expect(running).toMatchObject({ startMs, endMs: startMs + 2000, closed: false, plan: 'test', limits: SHORT, characters: 7 });
    expect(earlier).toEqual([]);
    expect(await subject.store.history.periods(newId())).toBeUndefined();
  });

  it.team('past periods are closed, with what their keys were charged, newest first and each with a unique number', SHORT, async (team) => {
    const startMs = subject.clock.nowMs();
    const key = await team.newKey();
    await team.use(7);
    await team.use(20, { keyId: key.keyId });
    subject.clock.step(2000);
    await team.use(3, { keyId: key.keyId });
    await team.release((await team.reserve(100)).requestId);
    subject.clock.step(2000);
    const held = { closed: true, plan: 'test', limits: SHORT };
    expect(await past(team)).toMatchObject([
      { ...held, startMs: startMs + 2000, endMs: startMs + 4000, characters: 3 },
      { ...held, startMs, endMs: startMs + 2000, characters: 27 },
    ]);
    const periods = await all(team);
    expect(periods[0]).toMatchObject({ startMs: startMs + 4000, closed: false, characters: 0 });
    expect(new Set(periods.map(({ number }) => number)).size).toBe(periods.length);
    expect(await all(team, subject.store)).toEqual(periods);
  });

  it.team('a period is not closed while a reservation of it is open, and counts later commits of it', SHORT, async (team) => {
    await team.use(1);
    const [committed, released] = [await team.reserve(10), await team.reserve(100), await team.reserve(1000, { leaseMs: 5000 })];
    subject.clock.step(2000);
    await team.use(2000);
    expect(await ended(team)).toEqual([[1, false]]);
    await team.commit(committed.requestId);
    expect(await ended(team)).toEqual([[11, false]]);
    await team.release(released.requestId);
    expect(await ended(team)).toEqual([[11, false]]);
    subject.clock.step(3000);
    expect(await ended(team)).toEqual([
      [2000, true],
      [11, true],
    ]);
  });

  it.team('a closed period never changes: not by charges, nor by another plan, name or key', SHORT, async (team) => {
    await team.use(7);
    subject.clock.step(2000);
    const [closed] = await past(team);
    await team.use(9);
    const limits = { ...PREPAID, characterLimit: 0, currency: 'CHF' };
    answered(await subject.store.teams.updateTeam(team.teamId, { name: 'Other', plan: { name: 'other', limits }, addMicro: 1_000_000 }));
    await team.revoke();
    subject.clock.step(86_400_000);
    expect((await past(team)).at(-1)).toEqual(closed);
    expect(closed).toMatchObject({ characters: 7, plan: 'test', limits: SHORT });
  });

  it.team('a period has the last plan that applied to it, even without activity between its end and a plan change', SHORT, async (team) => {
    await team.use(7);
    const doubled = { ...SHORT, characterLimit: SHORT.characterLimit * 2 };
    const give = async (name: string, limits: typeof SHORT): Promise<void> =>
      void answered(await subject.store.teams.updateTeam(team.teamId, { plan: { name, limits } }));
    await give('bigger', doubled);
    subject.clock.step(2000);
    await give('small', { ...SHORT, characterLimit: 5 });
    expect(await past(team)).toMatchObject([{ plan: 'bigger', limits: doubled, characters: 7, closed: true }]);
    expect((await all(team))[0]).toMatchObject({ plan: 'small', limits: { characterLimit: 5 } });
  });

  it('a different length closes the current period at the change, under the old plan, and its open reservations are charged to it', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 100, period: 'PT60S' });
    const startMs = subject.clock.nowMs();
    await team.use(7);
    const open = await team.reserve(5);
    subject.clock.step(5000);
    await team.setLimits({ characterLimit: 9, period: 'PT1H' });
    const bounds = { startMs, endMs: startMs + 5000, plan: 'test', limits: { ...GENEROUS_QUOTA, characterLimit: 100, period: 'PT60S' } };
    expect(await past(team)).toMatchObject([{ ...bounds, closed: false, characters: 7 }]);
    await team.commit(open.requestId);
    await team.use(3);
    expect(await past(team)).toMatchObject([{ ...bounds, closed: true, characters: 12 }]);
    expect((await all(team))[0]).toMatchObject({ startMs: startMs + 5000, characters: 3, limits: { characterLimit: 9 } });
  });

  it.team('days and periods have the same total', { period: 'PT7H' }, async (team) => {
    const startMs = subject.clock.nowMs();
    let charged = 0;
    for (let n = 1; n <= 12; n++) {
      await team.use(n);
      const late = await team.reserve(100 * n, { leaseMs: 86_400_000 });
      subject.clock.step(5 * 3_600_000);
      await team.commit(late.requestId);
      charged += 101 * n;
    }
    subject.clock.step(7 * 3_600_000);
    const periods = await all(team);
    expect(periods.reduce((sum, { characters }) => sum + characters, 0)).toBe(charged);
    expect(periods.slice(1).every(({ closed }) => closed)).toBe(true);
    const day = Math.floor(startMs / 86_400_000);
    const { days } = answered(await subject.store.history.days(team.teamId, { from: day, to: day + 5 }))!;
    expect(days.reduce((sum, { characters }) => sum + characters, 0)).toBe(charged);
    expect(days.reduce((sum, { requests }) => sum + requests, 0)).toBe(24);
  });
}
