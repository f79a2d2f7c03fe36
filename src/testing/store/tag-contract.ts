// Part of the store contract: charges by tag and UTC day.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { expect } from '../expect.ts';
import { teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

const tagged = (name: string, distinctMax = 1000): AdmissionChoices => ({ tag: { name, distinctMax } });

export function tagContract(it: AddStoreCase, subject: Subject): void {
  const today = (): number => dayOf(subject.clock.nowMs());
  /** As `[tag, day, characters, requests]`, with days relative to `first`. */
  const rows = async ({ teamId }: TeamUnderTest, first: number, store: PluginStore = subject.again): Promise<unknown[]> => {
    const found = answered(await store.tags.days(teamId, { from: first - 10, to: first + 400 }));
    return found.map(({ tag, day, characters, requests }) => [tag, day - first, characters, requests]);
  };
  const ofTeam = async ({ teamId }: TeamUnderTest, day: number): Promise<[characters: number, requests: number]> => {
    const { days } = answered(await subject.store.history.days(teamId, { from: day, to: day }))!;
    return [days.reduce((sum, one) => sum + one.characters, 0), days.reduce((sum, one) => sum + one.requests, 0)];
  };

  it.team('a commit counts its characters and one request for its tag; releases, expiries and repetitions do not', async (team) => {
    const first = today();
    const { requestId } = await team.reserve(7, tagged('acme'));
    await team.commit(requestId);
    await team.commit(requestId, subject.again);
    await team.use(5, tagged('acme'));
    await team.use(3, tagged('z!~"#'));
    await team.use(11);
    await team.release((await team.reserve(100, tagged('acme'))).requestId);
    await team.reserve(200, { ...tagged('acme'), leaseMs: 1000 });
    await team.admit({ ...TOUCH, ...tagged('touched') });
    subject.clock.step(1000);
    await team.touch();
    expect(await rows(team, first)).toEqual([
      ['acme', 0, 12, 2],
      ['z!~"#', 0, 3, 1],
    ]);
    expect(await rows(team, first, subject.store)).toEqual(await rows(team, first));
    expect(await ofTeam(team, first)).toEqual([26, 4]);
  });

  it.team('with as many tags as are counted, further ones are counted together', async (team) => {
    const first = today();
    for (const name of ['a', 'b', 'c', 'd', 'a']) await team.use(1, tagged(name, 2));
    await team.use(10, tagged(FURTHER_TAGS, 2));
    await team.use(20, tagged('c', 3));
    await team.use(40, tagged('d', 3));
    expect(await rows(team, first)).toEqual([
      ['*', 0, 52, 4],
      ['a', 0, 2, 2],
      ['b', 0, 1, 1],
      ['c', 0, 20, 1],
    ]);
    subject.clock.step(DAY_MS);
    await team.use(2, tagged('e', 3));
    await team.use(3, tagged('b', 3));
    expect((await rows(team, first + 1)).slice(-2)).toEqual([
      ['*', 0, 2, 1],
      ['b', 0, 3, 1],
    ]);
  });

  it.team('the one for further tags takes no place of another, if both are new at once', async (team) => {
    await team.use(1, tagged('a', 2));
    await team.use(1, tagged('b', 2));
    const [further, more] = [await team.reserve(10, tagged(FURTHER_TAGS, 2)), await team.reserve(100, tagged('c', 2))];
    await Promise.all([team.commit(further.requestId), team.commit(more.requestId)]);
    expect(await rows(team, today())).toEqual([
      [FURTHER_TAGS, 0, 110, 2],
      ['a', 0, 1, 1],
      ['b', 0, 1, 1],
    ]);
  });

  it.team('tags of concurrent requests are counted exactly, and never more of them than are to be', async (team) => {
    const first = today();
    const names = Array.from({ length: 60 }, (_, i) => `tag-${i % 20}`);
    const reserved = await Promise.all(names.map((name) => team.reserve(3, tagged(name, 12))));
    await Promise.all(reserved.map(({ requestId }, i) => team.commit(requestId, i % 2 === 0 ? subject.store : subject.again)));
    const found = answered(await subject.store.tags.days(team.teamId, { from: first, to: first }));
    expect(found.filter(({ tag }) => tag !== FURTHER_TAGS)).toHaveLength(12);
    expect(found.reduce((sum, { characters }) => sum + characters, 0)).toBe(180);
    expect(found.reduce((sum, { requests }) => sum + requests, 0)).toBe(60);
  });

  it.team('a part of a reservation is counted as far as it is charged', async (team) => {
    const first = today();
    await team.commitPart((await team.reserve(10, tagged('acme'))).requestId, 4);
    await team.commitPart((await team.reserve(10, tagged('acme'))).requestId, 0);
    expect(await rows(team, first)).toEqual([['acme', 0, 4, 2]]);
  });

  it.team('tags and limits of windows do not get in each other’s way', { windows: 'characters=100/day requests=9/hour' }, async (team) => {
    const first = today();
    await team.release((await team.reserve(90, tagged('acme'))).requestId);
    await team.use(90, tagged('acme'));
    expect((await team.admit({ characters: 11, ...tagged('acme') })).kind).toBe('rate_limited');
    await team.use(10);
    expect(await rows(team, first)).toEqual([['acme', 0, 90, 1]]);
  });

  it.team('a deleted team has no tags, whether its usage is kept or not', async (team) => {
    const [first, kept] = [today(), await teamUnderTest(subject.store)];
    for (const one of [team, kept]) await one.use(5, tagged('acme'));
    answered(await subject.store.teams.deleteTeam(team.teamId, { keepUsage: false }));
    answered(await subject.store.teams.deleteTeam(kept.teamId, { keepUsage: true }));
    for (const one of [team, kept]) expect(await rows(one, first)).toEqual([]);
  });
}
