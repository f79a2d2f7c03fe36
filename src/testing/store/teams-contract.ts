// Part of the store contract: teams as they are created, found, listed and given credit.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { NewTeam } from '../../ports/team-registry.ts';
import type { Subject } from './subject.ts';
import { GENEROUS_QUOTA, idAt, newId, PREPAID, teamUnderTest } from './team-under-test.ts';

export function teamsContract(it: AddCase, subject: Subject): void {
  it('a created team carries what it was made with and when, and is found so', async () => {
    const team: NewTeam = { teamId: newId(), name: 'Übersetzer & “Söhne”', plan: 'prepaid', limits: PREPAID, balanceMicro: 5_000_000 };
    const created = { ...team, createdAtMs: subject.clock.nowMs() };
    expect(await subject.store.teams.createTeam(team)).toEqual(created);
    expect(await subject.store.teams.findTeam(team.teamId)).toEqual(created);
  });

  it('teams are listed in order of creation, whatever their ids and the clock say', async () => {
    const ids = [idAt(9), idAt(8), idAt(10)];
    for (const teamId of ids) {
      await subject.store.teams.createTeam({ teamId, name: 'One of many', plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 });
      if (teamId === ids[1]) subject.clock.step(-5000);
    }
    const listed = await subject.store.teams.listTeams();
    expect(listed.map((team) => team.teamId).filter((teamId) => ids.includes(teamId))).toEqual(ids);
    expect(listed.find((team) => team.teamId === ids[0])).toEqual(await subject.store.teams.findTeam(ids[0] ?? ''));
  });

  it('a page of teams begins behind the one before, and a search finds them by part of a name or id', async () => {
    const { teams } = subject.store;
    const mark = newId().slice(-8);
    const names = [`Alpha ${mark}`, `Beta ${mark.toLowerCase()}`, `Gamma`, `Delta ${mark}!`];
    const ids: string[] = [];
    for (const name of names) {
      const team = { teamId: newId(), name, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 };
      ids.push((await teams.createTeam(team)).teamId);
    }
    const [alpha, beta, gamma, delta] = ids as [string, string, string, string];
    const found = async (after: string | undefined, limit: number, search: string | undefined) =>
      (await teams.pageTeams({ after, limit, search })).map(({ teamId }) => teamId);
    expect(await found(undefined, 10, mark)).toEqual([alpha, beta, delta]);
    expect(await found(undefined, 2, mark.toLowerCase())).toEqual([alpha, beta]);
    expect(await found(beta, 2, mark)).toEqual([delta]);
    expect(await found(undefined, 10, gamma.slice(4))).toEqual([gamma]);
    expect(await found(alpha, 3, undefined)).toEqual([beta, gamma, delta]);
    expect(await found(delta, 3, undefined)).toEqual([]);
    expect((await teams.pageTeams({ after: undefined, limit: 1, search: gamma }))[0]).toEqual(await teams.findTeam(gamma));
  });

  it('a team can be given another name, which changes nothing else', async () => {
    const team = await teamUnderTest(subject.store);
    const before = await subject.store.teams.findTeam(team.teamId);
    expect(await subject.store.teams.updateTeam(team.teamId, { name: 'Renamed' })).toEqual({ ...before, name: 'Renamed' });
    expect(await subject.store.teams.pageTeams({ after: undefined, limit: 1, search: team.teamId })).toEqual([
      { ...before, name: 'Renamed' },
    ]);
  });

  it('a new team’s books are empty', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 7);
    expect(await team.standing()).toEqual({ usedCharacters: 0, heldCharacters: 0, balanceMicro: 7, heldMicro: 0, openReservations: 0 });
  });

  it('added credit is on top of what is left, and can be spent by the next admission', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 25_000);
    await team.commit((await team.reserve(10)).requestId);
    expect((await team.admit()).kind).toBe('credit_exhausted');
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 25_001 })).toMatchObject({ balanceMicro: 25_001 });
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 4 })).toMatchObject({ balanceMicro: 25_005 });
    await team.reserve(10);
    expect((await subject.store.teams.findTeam(team.teamId))?.balanceMicro).toBe(25_005);
  });

  it('a plan and credit can be changed together, and an empty change changes nothing', async () => {
    const team = await teamUnderTest(subject.store);
    const changed = await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'prepaid', limits: PREPAID }, addMicro: 100 });
    expect(changed).toMatchObject({ plan: 'prepaid', limits: PREPAID, balanceMicro: 100 });
    expect(await subject.store.teams.updateTeam(team.teamId, {})).toEqual(changed);
  });

  it('an id that is no team’s is undefined everywhere', async () => {
    const { teams } = subject.store;
    const teamId = newId();
    expect(await teams.findTeam(teamId)).toBeUndefined();
    expect(await teams.updateTeam(teamId, { addMicro: 1 })).toBeUndefined();
    expect(await teams.usage(teamId)).toBeUndefined();
    expect(await teams.standing(teamId)).toBeUndefined();
    expect(await teams.findTeam(teamId)).toBeUndefined();
  });

  it('an open store answers a ping', async () => {
    expect(await subject.store.ping()).toBeUndefined();
  });
}
