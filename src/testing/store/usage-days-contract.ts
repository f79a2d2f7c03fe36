// Part of the store contract: usage by key and UTC day. A store without history passes.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { DayRange, TeamDays } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { freshKey, LEASE_MS, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

/** Days that are certainly kept. */
const KEPT_DAYS = 400;

export function usageDaysContract(it: AddStoreCase, subject: Subject): void {
  const today = (): number => dayOf(subject.clock.nowMs());
  const use = async (team: TeamUnderTest, characters: number, keyId = team.keyId, store: PluginStore = subject.store): Promise<void> => {
    const { requestId } = await team.reserve(characters, { keyId });
    expect(await team.commit(requestId, store)).toEqual({ kind: 'committed' });
  };
  const found = async (teamId: string, range: DayRange, store = subject.store): Promise<TeamDays> =>
    answered(await store.history.days(teamId, range))!;
  /** All of its days, as `[day, key, characters, requests]`, with days relative to `first` and keys numbered from 0. */
  const rows = async (team: TeamUnderTest, first: number, store = subject.again): Promise<readonly (readonly number[])[]> => {
    const { keys, days } = await found(team.teamId, { from: first - 10, to: first + KEPT_DAYS }, store);
    const ids = keys.map(({ keyId }) => keyId);
    return days.map(({ day, keyId, characters, requests }) => [day - first, ids.indexOf(keyId), characters, requests]);
  };

  it('commits are counted for their day and key; reservations, releases, expiries and repetitions are not', async () => {
    const [team, first] = [await teamUnderTest(subject.store), today()];
    await use(team, 7);
    const { requestId } = await team.reserve(5);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.commit(requestId, subject.again)).toEqual({ kind: 'absent' });
    await team.release((await team.reserve(100)).requestId);
    await team.reserve(200, { leaseMs: 1000 });
    await team.reserve(400);
    await team.touch();
    expect(await rows(team, first)).toEqual([[0, 0, 12, 2]]);
    subject.clock.step(1000);
    expect(await team.standing()).toMatchObject({ openReservations: 1 });
    expect(await rows(team, first)).toEqual([[0, 0, 12, 2]]);
  });

  it('the day is that of the commit, by the store’s clock, starting at midnight UTC, also where the period ends then', async () => {
    const [team, first] = [await teamUnderTest(subject.store, { period: 'P1D@calendar' }), today()];
    subject.clock.set((first + 1) * DAY_MS - 1);
    const [before, after] = [await team.reserve(3), await team.reserve(4)];
    await team.commit(before.requestId);
    subject.clock.step(1);
    await team.commit(after.requestId);
    await use(team, 5);
    expect(await rows(team, first)).toEqual([
      [0, 0, 3, 1],
      [1, 0, 9, 2],
    ]);
  });

  it('days are in order, keys of a day in order of creation, only those with usage, including revoked ones', async () => {
    const [team, first] = [await teamUnderTest(subject.store), today()];
    const others = [freshKey(team.teamId, 'second'), freshKey(team.teamId, 'unused'), freshKey(team.teamId, 'third', 'test')] as const;
    for (const key of others) answered(await subject.store.teams.createKey(key));
    const [second, , third] = others;
    await use(team, 1, third.keyId);
    await use(team, 2, second.keyId);
    subject.clock.step(2 * DAY_MS);
    await use(team, 3, third.keyId);
    await use(team, 4);
    await use(team, 5, third.keyId);
    await team.revoke(third.keyId);
    expect(await rows(team, first)).toEqual([
      [0, 1, 2, 1],
      [0, 2, 1, 1],
      [2, 0, 4, 1],
      [2, 2, 8, 2],
    ]);
    const listed = answered(await subject.store.teams.listKeys(team.teamId))!;
    const { keys } = await found(team.teamId, { from: first, to: first + 2 });
    expect(keys).toEqual(listed.filter(({ label }) => label !== 'unused'));
    expect(keys.at(-1)?.status).toBe('revoked');
    expect((await found(team.teamId, { from: first, to: first + 1 })).keys.map(({ label }) => label)).toEqual(['second', 'third']);
  });

  it('both ends of the range are inclusive, and days outside are not returned', async () => {
    const [team, first] = [await teamUnderTest(subject.store), today()];
    for (const characters of [1, 2, 3, 4]) {
      await use(team, characters);
      subject.clock.step(DAY_MS);
    }
    const counts = async (from: number, to: number): Promise<number[]> =>
      (await found(team.teamId, { from: first + from, to: first + to })).days.map(({ characters }) => characters);
    expect(await counts(0, 3)).toEqual([1, 2, 3, 4]);
    expect(await counts(1, 2)).toEqual([2, 3]);
    expect(await counts(3, 3)).toEqual([4]);
    expect(await counts(4, 90)).toEqual([]);
    expect(await counts(-90, -1)).toEqual([]);
  });

  it('a clock that steps back over midnight loses nothing', async () => {
    const [team, first] = [await teamUnderTest(subject.store), today()];
    subject.clock.set((first + 1) * DAY_MS - 1000);
    await use(team, 1);
    subject.clock.step(2000);
    await use(team, 2);
    subject.clock.step(-2000);
    await use(team, 4);
    expect(await rows(team, first)).toEqual([
      [0, 0, 5, 2],
      [1, 0, 2, 1],
    ]);
    subject.clock.step(2000);
    await use(team, 8);
    subject.clock.step(3 * DAY_MS);
    await use(team, 16);
    subject.clock.step(-3 * DAY_MS);
    await use(team, 32);
    expect(await rows(team, first)).toEqual([
      [0, 0, 5, 2],
      [1, 0, 42, 3],
      [4, 0, 16, 1],
    ]);
  });

  it.team('a team without usage has no days, and an unknown team is undefined', async (team) => {
    await team.reserve(5);
    const range = { from: today(), to: today() };
    expect(await found(team.teamId, range)).toEqual({
      team: answered(await subject.store.teams.findTeam(team.teamId)),
      keys: [],
      days: [],
    });
    expect(await subject.store.history.days(newId(), range)).toBeUndefined();
  });

  it('days are kept for 400 days, without any other activity', async () => {
    const [team, first] = [await teamUnderTest(subject.store), today()];
    await use(team, 6);
    subject.clock.step(KEPT_DAYS * DAY_MS - LEASE_MS);
    expect(await rows(team, first)).toEqual([[0, 0, 6, 1]]);
    await use(team, 7);
    expect((await rows(team, first)).map(([, , characters]) => characters)).toEqual([6, 7]);
  });

  it('pages of teams have the same days, including teams without usage, in order of creation', async () => {
    const mark = newId();
    const teams: TeamUnderTest[] = [];
    for (const characters of [0, 3, 0, 5, 7]) {
      const team = await teamUnderTest(subject.store);
      answered(await subject.store.teams.updateTeam(team.teamId, { name: `Of ${mark}` }));
      if (characters > 0) await use(team, characters);
      teams.push(team);
    }
    const range = { from: today() - 1, to: today() + 1 };
    const whole = await Promise.all(teams.map(({ teamId }) => found(teamId, range)));
    const page = async (after: string | undefined, limit: number, search: string | undefined): Promise<readonly TeamDays[]> =>
      answered(await subject.again.history.pageDays({ after, limit, search }, range));
    expect(await page(undefined, 10, mark)).toEqual(whole);
    expect(await page(teams[1]!.teamId, 2, mark.toLowerCase())).toEqual(whole.slice(2, 4));
    expect(await page(teams[0]!.teamId, 4, undefined)).toEqual(whole.slice(1));
    expect(await page(teams[4]!.teamId, 10, mark)).toEqual([]);
  });
}
