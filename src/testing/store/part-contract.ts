// Part of the store contract: a commit that charges less than was reserved.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

export function partContract(it: AddStoreCase, subject: Subject): void {
  /** Reserves, and charges a part of it. */
  const use = async (team: TeamUnderTest, reserved: number, part: number) => {
    const { requestId } = await team.reserve(reserved);
    expect(await team.commitPart(requestId, part)).toEqual({ kind: 'committed' });
    return requestId;
  };

  it.team('the part and one request are charged to team and key, and the rest is freed', async (team) => {
    const open = await team.reserve(5);
    await use(team, 10, 3);
    expect(await team.standing()).toEqual({ usedCharacters: 3, balanceMicro: 0, ...NOTHING_HELD, heldCharacters: 5, openReservations: 1 });
    expect(await team.usage()).toMatchObject({ characters: 3, keys: [{ characters: 3, requests: 1 }] });
    await team.commit(open.requestId);
    expect(await team.usage()).toMatchObject({ characters: 8, keys: [{ characters: 8, requests: 2 }] });
  });

  it('a part of 0 costs nothing but counts its request', async () => {
    const [quota, credit] = [await teamUnderTest(subject.store), await teamUnderTest(subject.store, PREPAID, 25_000)];
    for (const team of [quota, credit]) {
      await use(team, 10, 0);
      expect(await team.standing()).toMatchObject({ usedCharacters: 0, ...NOTHING_HELD });
      expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 1 }] });
    }
    expect(await credit.standing()).toMatchObject({ balanceMicro: 25_000 });
    expect((await credit.admit({ characters: 10 })).kind).toBe('admitted');
  });

  it.team('0 of 0, all, and more than all charge what was reserved', { ...PREPAID, balanceMicro: 1_000_000 }, async (team) => {
    await use(team, 0, 0);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, balanceMicro: 1_000_000 });
    await use(team, 10, 10);
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, balanceMicro: 975_000 });
    await use(team, 10, 11);
    expect(await team.standing()).toMatchObject({ usedCharacters: 20, balanceMicro: 950_000, ...NOTHING_HELD });
  });

  it('the price of a part is exact, and the credit held by the rest can be spent', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion: 333_333 }, 3_333_330);
    await use(team, 10, 7);
    expect(await team.standing()).toMatchObject({ usedCharacters: 7, balanceMicro: 999_999, ...NOTHING_HELD });
    expect(await team.kinds({ characters: 4 }, { characters: 3 })).toEqual(['credit_exhausted', 'admitted']);
  });

  it('prices near the largest exact number stay exact', async () => {
    const balanceMicro = Number.MAX_SAFE_INTEGER - 1;
    const minorPerMillion = Math.floor(balanceMicro / 10_000);
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion }, balanceMicro);
    await use(team, 9999, 9998);
    expect(await team.standing()).toMatchObject({ balanceMicro: balanceMicro - 9998 * minorPerMillion, ...NOTHING_HELD });
  });

  it('an id is charged once, whatever its repetitions name, on any instance', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000);
    const requestId = await use(team, 10, 3);
    const before = await team.standing();
    for (const store of [subject.store, subject.again]) {
      expect(await team.commitPart(requestId, 3, store)).toEqual({ kind: 'absent' });
      expect(await team.commitPart(requestId, 9, store)).toEqual({ kind: 'absent' });
      expect(await team.commit(requestId, store)).toEqual({ kind: 'absent' });
      expect(await team.release(requestId, store)).toEqual({ kind: 'absent' });
    }
    expect(await team.standing()).toEqual(before);
    expect((await team.usage()).keys).toMatchObject([{ characters: 3, requests: 1 }]);
  });

  it.team('of concurrent parts, the first one stands', { ...PREPAID, balanceMicro: 1_000_000 }, async (team) => {
    const { requestId } = await team.reserve(10);
    const other = await team.reserve(20);
    const all = [team.commitPart(requestId, 4), team.commit(other.requestId), team.commitPart(requestId, 9), team.commit(requestId)];
    const kinds = (await Promise.all(all)).map(({ kind }) => kind);
    expect(kinds).toEqual(['committed', 'committed', 'absent', 'absent']);
    expect(await team.standing()).toEqual({ usedCharacters: 24, balanceMicro: 940_000, ...NOTHING_HELD });
    expect((await team.usage()).keys).toMatchObject([{ characters: 24, requests: 2 }]);
  });

  it('the part counts in the period it was reserved in, and on the day of its commit', async () => {
    const { history } = subject.store;
    const team = await teamUnderTest(subject.store, { ...GENEROUS_QUOTA, period: 'P1D' });
    const firstDay = dayOf(subject.clock.nowMs());
    await use(team, 10, 4);
    const late = await team.reserve(1000, { leaseMs: 2 * DAY_MS });
    subject.clock.step(DAY_MS);
    expect(await team.commitPart(late.requestId, 30)).toEqual({ kind: 'committed' });
    expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 0 }] });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, ...NOTHING_HELD });
    const periods = answered(await history.periods(team.teamId))!;
    expect(periods[1]).toMatchObject({ closed: true, characters: 34 });
    const { days } = answered(await history.days(team.teamId, { from: firstDay, to: firstDay + 1 }))!;
    expect(days.map(({ day, characters, requests }) => [day - firstDay, characters, requests])).toEqual([
      [0, 4, 1],
      [1, 30, 1],
    ]);
  });

  it('a day without charges still has its requests, and a period without charges hides no other', async () => {
    const { history } = subject.store;
    const team = await teamUnderTest(subject.store, { ...GENEROUS_QUOTA, period: 'P1D' });
    const from = dayOf(subject.clock.nowMs());
    await use(team, 7, 7);
    subject.clock.step(DAY_MS);
    await use(team, 10, 0);
    await use(team, 10, 0);
    subject.clock.step(DAY_MS);
    await use(team, 10, 1);
    const { days } = answered(await history.days(team.teamId, { from, to: from + 2 }))!;
    expect(days.map(({ day, characters, requests }) => [day - from, characters, requests])).toEqual([
      [0, 7, 1],
      [1, 0, 2],
      [2, 1, 1],
    ]);
    const periods = answered(await history.periods(team.teamId))!;
    expect(periods.filter(({ characters }) => characters > 0).map(({ characters, closed }) => [characters, closed])).toEqual([
      [1, false],
      [7, true],
    ]);
  });
}
