// Part of the store contract: teams as they are created, found, listed and given credit.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import type { NewTeam, Team, TeamPage } from '../../ports/team-registry.ts';
import { play } from './steps.ts';
import { GENEROUS_QUOTA, idAt, newId, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

export function teamsContract(it: AddStoreCase, subject: Subject): void {
  const make = async (name: string, more: Partial<NewTeam> = {}): Promise<Team> => {
    const team = { teamId: newId(), name, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0, ...more };
    return answered(await subject.store.teams.createTeam(team));
  };
  const found = async (page: Partial<TeamPage>): Promise<readonly string[]> => {
    const asked = { after: undefined, limit: 5, search: undefined, ...page };
    return answered(await subject.store.teams.pageTeams(asked)).map(({ teamId }) => teamId);
  };

  it('a change with an id is made once, even over two instances at once; another request with it is refused', async ({ store, again }) => {
    const team = await teamUnderTest(store, PREPAID, 1000);
    const { teamId } = team;
    const change = { addMicro: 500, once: { id: 'order4711', request: 'add 500' } };
    const add = (from: typeof store) => from.teams.updateTeam(teamId, change);
    const made = await Promise.all(Array.from({ length: 20 }, (_, i) => add(i % 2 === 0 ? store : again)));
    for (const one of made) expect(one).toMatchObject({ teamId, balanceMicro: 1500 });
    expect(await add(again)).toMatchObject({ balanceMicro: 1500 });
    const other = { addMicro: 7, once: { id: 'order4711', request: 'add 7' } };
    expect(await store.teams.updateTeam(teamId, other)).toEqual({ kind: 'other_request' });
    expect(await team.standing()).toMatchObject({ balanceMicro: 1500 });
    expect(await store.teams.updateTeam(teamId, { addMicro: 1, once: { id: 'order4712', request: 'add 500' } })).toMatchObject({
      balanceMicro: 1501,
    });
  });

  it('a created team is returned and found with everything it was created with', async () => {
    const team: NewTeam = { teamId: newId(), name: 'Übersetzer & “Söhne”', plan: 'prepaid', limits: PREPAID, balanceMicro: 5_000_000 };
    const created = { ...team, createdAtMs: subject.clock.nowMs() };
    expect(await subject.store.teams.createTeam(team)).toEqual(created);
    expect(await subject.store.teams.findTeam(team.teamId)).toEqual(created);
  });

  it('creating a team again returns it unchanged, and makes no second one', async () => {
    const { teams } = subject.store;
    const team: NewTeam = { teamId: newId(), name: 'Once', plan: 'prepaid', limits: PREPAID, balanceMicro: 5_000_000 };
    await teams.createTeam(team);
    const changed = await teams.updateTeam(team.teamId, { addMicro: 1 });
    subject.clock.step(1000);
    expect(await subject.again.teams.createTeam({ ...team, name: 'Twice', balanceMicro: 9 })).toEqual(changed);
    expect(await teams.pageTeams({ after: undefined, limit: 2, search: team.teamId })).toEqual([changed]);
  });

  it('teams are listed in order of creation, regardless of their ids and the clock', async ({ store, clock }) => {
    const ids = [idAt(9), idAt(8), idAt(10)];
    for (const teamId of ids) {
      await make('One of many', { teamId });
      if (teamId === ids[1]) clock.step(-5000);
    }
    const listed = answered(await store.teams.listTeams());
    expect(listed.map((team) => team.teamId).filter((teamId) => ids.includes(teamId))).toEqual(ids);
    expect(listed.find((team) => team.teamId === ids[0])).toEqual(await store.teams.findTeam(ids[0] ?? ''));
  });

  it('a page of teams continues after the previous one, and a search matches part of a name or id', async ({ store }) => {
    const mark = newId().slice(-8);
    const ids: string[] = [];
    for (const name of [`Alpha ${mark}`, `Beta ${mark.toLowerCase()}`, `Gamma`, `Delta ${mark}!`]) ids.push((await make(name)).teamId);
    const [alpha, beta, gamma, delta] = ids as [string, string, string, string];
    for (const [page, expected] of [
      [{ search: mark, limit: 10 }, [alpha, beta, delta]],
      [{ search: mark.toLowerCase(), limit: 2 }, [alpha, beta]],
      [{ search: mark, limit: 2, after: beta }, [delta]],
      [{ search: gamma.slice(4), limit: 10 }, [gamma]],
      [{ after: alpha, limit: 3 }, [beta, gamma, delta]],
      [{ after: delta, limit: 3 }, []],
    ] as const) {
      expect(await found(page)).toEqual(expected);
    }
    expect(answered(await store.teams.pageTeams({ after: undefined, limit: 1, search: gamma }))[0]).toEqual(
      await store.teams.findTeam(gamma),
    );
  });

  it('a reference stands beside the name, found by search, changed, and removed', async ({ store, again }) => {
    const { teams } = store;
    const mark = newId().slice(-8);
    const named = { name: `Shop ${mark}`, reference: `K-${mark}/Ü` };
    const made = await make(named.name, named);
    expect(made).toMatchObject(named);
    const { teamId } = made;
    const ids = async (...searches: readonly string[]) => Promise.all(searches.map((search) => found({ search })));
    expect(await teams.findTeam(teamId)).toEqual(made);
    expect(answered(await teams.usage(teamId))?.team).toEqual(made);
    const summaries = answered(await teams.pageSummaries({ after: undefined, limit: 5, search: `k-${mark}` }));
    expect(summaries.map(({ team }) => team)).toEqual([made]);
    expect(await ids(`K-${mark.toLowerCase()}`)).toEqual([[teamId]]);
    const changed = { ...made, reference: `L-${mark}` };
    expect(await again.teams.updateTeam(teamId, { reference: `L-${mark}` })).toEqual(changed);
    expect(await ids(`K-${mark}`, `L-${mark}`)).toEqual([[], [teamId]]);
    const { reference: _reference, ...bare } = { ...changed, name: `Store ${mark}` };
    expect(await teams.updateTeam(teamId, { name: bare.name })).toEqual({ ...changed, ...bare });
    expect(await ids(`L-${mark}`)).toEqual([[teamId]]);
    expect(await teams.updateTeam(teamId, { reference: null })).toEqual(bare);
    expect(await teams.findTeam(teamId)).toEqual(bare);
    expect(await ids(`L-${mark}`, `Store ${mark}`)).toEqual([[], [teamId]]);
  });

  it('teams with exactly this name or reference are found in order of creation', async () => {
    const mark = newId().slice(-8);
    const search = `Übung ${mark}`;
    const { teamId: one } = await make(search);
    const { teamId: other } = await make(`x ${search}`, { reference: search });
    await make(`${search} 2`, { reference: `A ${search}` });
    const { teamId: third } = await make(search);
    expect(await found({ search, exact: true })).toEqual([one, other, third]);
    expect(await found({ search, exact: true, after: one, limit: 1 })).toEqual([other]);
    expect(await found({ search })).toHaveLength(4);
    expect(await found({ search: one, exact: true })).toEqual([]);
  });

  it('a page of summaries has the same teams, with their usage and the key that was unused for longest', async ({ store, clock }) => {
    const { teams } = store;
    const [mark, start] = [newId().slice(-8), clock.nowMs()];
    const team = await teamUnderTest(store);
    const { teamId, keyId: first } = team;
    answered(await teams.updateTeam(teamId, { name: `Used ${mark}` }));
    const bare = await make(`Bare ${mark}`);
    const [second, third] = [await team.newKey(), await team.newKey()];
    clock.step(1000);
    const summaries = async () => answered(await teams.pageSummaries({ after: undefined, limit: 5, search: mark }));
    const idle = { characters: 0, allowanceUsed: 0, lastUsedAtMs: undefined };
    expect(await summaries()).toEqual([
      { team: await teams.findTeam(teamId), ...idle, activeKeys: 3, idlestKey: { keyId: first, sinceMs: start } },
      { team: bare, ...idle, activeKeys: 0, idlestKey: undefined },
    ]);
    await team.use(10);
    await team.revoke(second.keyId);
    const used = { activeKeys: 2, lastUsedAtMs: start + 1000, idlestKey: { keyId: third.keyId, sinceMs: start } };
    expect((await summaries())[0]).toMatchObject({ ...used, characters: 10 });
    clock.set((await team.usage()).periodEndMs);
    expect((await summaries())[0]).toMatchObject({ ...used, characters: 0 });
  });

  it.team('credit is added to what is left, and the next admission can spend it', { ...PREPAID, balanceMicro: 25_000 }, async (team) => {
    await play(subject, team, 'use 10; 10: credit_exhausted');
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 25_001 })).toMatchObject({ balanceMicro: 25_001 });
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 4 })).toMatchObject({ balanceMicro: 25_005 });
    await play(subject, team, '10: admitted; balance 25005');
    expect(answered(await subject.store.teams.findTeam(team.teamId))?.balanceMicro).toBe(25_005);
  });

  it.team('a plan and credit can be changed together, and an empty change changes nothing', async (team) => {
    const changed = answered(
      await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'prepaid', limits: PREPAID }, addMicro: 100 }),
    );
    expect(changed).toMatchObject({ plan: 'prepaid', limits: PREPAID, balanceMicro: 100 });
    expect(await subject.store.teams.updateTeam(team.teamId, {})).toEqual(changed);
  });

  it('credit beyond the exact integers is refused with the whole change, and the largest one can be reached', async () => {
    const { teams } = subject.store;
    const { teamId } = await teamUnderTest(subject.store, PREPAID, 7);
    const before = answered(await teams.findTeam(teamId));
    const change = { name: 'Rich', plan: { name: 'other', limits: GENEROUS_QUOTA }, addMicro: Number.MAX_SAFE_INTEGER - 6 };
    expect(await teams.updateTeam(teamId, change)).toEqual({ kind: 'balance_out_of_bounds' });
    expect(await teams.findTeam(teamId)).toEqual(before);
    const full = answered(await teams.updateTeam(teamId, { addMicro: Number.MAX_SAFE_INTEGER - 7 }));
    expect(full).toMatchObject({ balanceMicro: Number.MAX_SAFE_INTEGER });
  });

  it('an unknown team id is undefined everywhere', async () => {
    const { teams } = subject.store;
    const teamId = newId();
    expect(await teams.updateTeam(teamId, { addMicro: 1 })).toBeUndefined();
    expect(await teams.usage(teamId)).toBeUndefined();
    expect(await teams.standing(teamId)).toBeUndefined();
    expect(await teams.findTeam(teamId)).toBeUndefined();
  });

  it('an open store answers a ping', async () => {
    expect(await subject.store.ping()).toBeUndefined();
  });
}
