// Part of the store contract: teams as they are created, found, listed and given credit.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import type { AdmissionRequest } from '../../ports/ledger.ts';
import type { NewTeam } from '../../ports/team-registry.ts';
import { freshKey, GENEROUS_QUOTA, idAt, newId, NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

export function teamsContract(it: AddStoreCase, subject: Subject): void {
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

  it('teams are listed in order of creation, regardless of their ids and the clock', async () => {
    const ids = [idAt(9), idAt(8), idAt(10)];
    for (const teamId of ids) {
      answered(
        await subject.store.teams.createTeam({ teamId, name: 'One of many', plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 }),
      );
      if (teamId === ids[1]) subject.clock.step(-5000);
    }
    const listed = answered(await subject.store.teams.listTeams());
    expect(listed.map((team) => team.teamId).filter((teamId) => ids.includes(teamId))).toEqual(ids);
    expect(listed.find((team) => team.teamId === ids[0])).toEqual(await subject.store.teams.findTeam(ids[0] ?? ''));
  });

  it('a page of teams continues after the previous one, and a search matches part of a name or id', async () => {
    const { teams } = subject.store;
    const mark = newId().slice(-8);
    const names = [`Alpha ${mark}`, `Beta ${mark.toLowerCase()}`, `Gamma`, `Delta ${mark}!`];
    const ids: string[] = [];
    for (const name of names) {
      const team = { teamId: newId(), name, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 };
      ids.push(answered(await teams.createTeam(team)).teamId);
    }
    const [alpha, beta, gamma, delta] = ids as [string, string, string, string];
    const found = async (after: string | undefined, limit: number, search: string | undefined) =>
      answered(await teams.pageTeams({ after, limit, search })).map(({ teamId }) => teamId);
    expect(await found(undefined, 10, mark)).toEqual([alpha, beta, delta]);
    expect(await found(undefined, 2, mark.toLowerCase())).toEqual([alpha, beta]);
    expect(await found(beta, 2, mark)).toEqual([delta]);
    expect(await found(undefined, 10, gamma.slice(4))).toEqual([gamma]);
    expect(await found(alpha, 3, undefined)).toEqual([beta, gamma, delta]);
    expect(await found(delta, 3, undefined)).toEqual([]);
    expect(answered(await teams.pageTeams({ after: undefined, limit: 1, search: gamma }))[0]).toEqual(await teams.findTeam(gamma));
  });

  it('a reference is kept beside the name, found by search, changed, and removed', async () => {
    const { teams } = subject.store;
    const mark = newId().slice(-8);
    const draft = {
      teamId: newId(),
      name: `Shop ${mark}`,
      reference: `K-${mark}/Ü`,
      plan: 'test',
      limits: GENEROUS_QUOTA,
      balanceMicro: 0,
    };
    const made = answered(await teams.createTeam(draft));
    expect(made).toMatchObject({ name: draft.name, reference: draft.reference });
    const { teamId } = made;
    const page = async (search: string, exact?: true) =>
      answered(await teams.pageTeams({ after: undefined, limit: 5, search, ...(exact === undefined ? {} : { exact }) })).map(
        (team) => team.teamId,
      );
    expect(await teams.findTeam(teamId)).toEqual(made);
    expect(answered(await teams.usage(teamId))?.team).toEqual(made);
    expect(answered(await teams.pageSummaries({ after: undefined, limit: 5, search: `k-${mark}` })).map(({ team }) => team)).toEqual([
      made,
    ]);
    expect(await page(`K-${mark.toLowerCase()}`)).toEqual([teamId]);
    const changed = { ...made, reference: `L-${mark}` };
    expect(await subject.again.teams.updateTeam(teamId, { reference: `L-${mark}` })).toEqual(changed);
    expect([await page(`K-${mark}`), await page(`L-${mark}`)]).toEqual([[], [teamId]]);
    const renamed = { ...changed, name: `Store ${mark}` };
    expect(await teams.updateTeam(teamId, { name: renamed.name })).toEqual(renamed);
    expect(await page(`L-${mark}`)).toEqual([teamId]);
    const { reference: _reference, ...bare } = renamed;
    expect(await teams.updateTeam(teamId, { reference: null })).toEqual(bare);
    expect(await teams.findTeam(teamId)).toEqual(bare);
    expect([await page(`L-${mark}`), await page(`Store ${mark}`)]).toEqual([[], [teamId]]);
  });

  it('teams with exactly this name or reference are found in order of creation', async () => {
    const { teams } = subject.store;
    const mark = newId().slice(-8);
    const make = async (name: string, reference?: string) => {
      const named = reference === undefined ? { name } : { name, reference };
      return answered(await teams.createTeam({ teamId: newId(), ...named, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 })).teamId;
    };
    const one = await make(`Übung ${mark}`);
    const other = await make(`x Übung ${mark}`, `Übung ${mark}`);
    await make(`Übung ${mark} 2`, `A Übung ${mark}`);
    const third = await make(`übung ${mark}`.replace('ü', 'Ü'));
    const exactly = async (after: string | undefined, limit: number) =>
      answered(await teams.pageTeams({ after, limit, search: `Übung ${mark}`, exact: true })).map(({ teamId }) => teamId);
    expect(await exactly(undefined, 5)).toEqual([one, other, third]);
    expect(await exactly(one, 1)).toEqual([other]);
    expect(answered(await teams.pageTeams({ after: undefined, limit: 5, search: `Übung ${mark}` }))).toHaveLength(4);
    const mine = answered(await teams.findTeam(one))!;
    expect(answered(await teams.pageTeams({ after: undefined, limit: 5, search: mine.teamId, exact: true }))).toEqual([]);
  });

  it('a page of summaries has the same teams, with their usage and the key that was unused for longest', async () => {
    const { teams } = subject.store;
    const [mark, start] = [newId().slice(-8), subject.clock.nowMs()];
    const [used, bare] = [await namedTeam(subject, `Used ${mark}`), await namedTeam(subject, `Bare ${mark}`)];
    const [first, second, third] = [await keyOf(subject, used), await keyOf(subject, used), await keyOf(subject, used)];
    subject.clock.step(1000);
    const summaries = async () => answered(await teams.pageSummaries({ after: undefined, limit: 5, search: mark }));
    const idle = { characters: 0, allowanceUsed: 0, lastUsedAtMs: undefined };
    expect(await summaries()).toEqual([
      { team: await teams.findTeam(used), ...idle, activeKeys: 3, idlestKey: { keyId: first, sinceMs: start } },
      { team: await teams.findTeam(bare), ...idle, activeKeys: 0, idlestKey: undefined },
    ]);
    const requestId = newId();
    const admitted = await subject.store.ledger.admit({ ...plainRequest(used, first), requestId });
    expect(admitted.kind).toBe('admitted');
    await subject.store.ledger.resolve(used, requestId, 'commit');
    answered(await teams.revokeKey(second));
    expect((await summaries())[0]).toMatchObject({
      characters: 10,
      activeKeys: 2,
      lastUsedAtMs: start + 1000,
      idlestKey: { keyId: third, sinceMs: start },
    });
    subject.clock.set(answered(await teams.usage(used))!.periodEndMs);
    expect((await summaries())[0]).toMatchObject({ characters: 0, lastUsedAtMs: start + 1000 });
    expect(answered(await teams.usage(used))?.characters).toBe(0);
  });

  it.team('a new team has nothing used, held or open', { ...PREPAID, balanceMicro: 7 }, async (team) => {
    expect(await team.standing()).toEqual({ usedCharacters: 0, balanceMicro: 7, ...NOTHING_HELD });
  });

  it.team('credit is added to what is left, and the next admission can spend it', { ...PREPAID, balanceMicro: 25_000 }, async (team) => {
    await team.use(10);
    expect((await team.admit()).kind).toBe('credit_exhausted');
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 25_001 })).toMatchObject({ balanceMicro: 25_001 });
    expect(await subject.store.teams.updateTeam(team.teamId, { addMicro: 4 })).toMatchObject({ balanceMicro: 25_005 });
    await team.reserve(10);
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

async function namedTeam({ store }: Subject, name: string): Promise<string> {
  const team = { teamId: newId(), name, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 };
  return answered(await store.teams.createTeam(team)).teamId;
}

async function keyOf({ store }: Subject, teamId: string): Promise<string> {
  const { keyId } = answered(await store.teams.createKey(freshKey(teamId, 'one of some')))!;
  return keyId;
}

function plainRequest(teamId: string, keyId: string): Omit<AdmissionRequest, 'requestId'> {
  return { teamId, keyId, characters: 10, reserve: true, leaseMs: 5000, glossary: undefined };
}
