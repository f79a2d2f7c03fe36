// Part of the store contract: charges by UTC day, for each key and for each tag.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { DayRange, TeamDays } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { START_MS } from '../movable-clock.ts';
import { tagged } from './limited-under-test.ts';
import { play } from './steps.ts';
import { LEASE_MS, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

/** Days that are certainly there. */
const RETAINED_DAYS = 400;
/** On which every case begins. */
const FIRST = dayOf(START_MS);
const MIDNIGHT = '2040-01-16';
const BEFORE_MIDNIGHT = '2040-01-15T23:59:59.999Z';

export function usageDaysContract(it: AddStoreCase, subject: Subject): void {
  const found = async (teamId: string, range: DayRange, store = subject.store): Promise<TeamDays> =>
    answered(await store.history.days(teamId, range))!;
  /** All of its days, as `[day, key, characters, requests]`, with days counted from the first and keys numbered from 0. */
  const expectRows = async (team: TeamUnderTest, ...expected: readonly (readonly number[])[]): Promise<void> => {
    const { keys, days } = await found(team.teamId, { from: FIRST - 10, to: FIRST + RETAINED_DAYS }, subject.again);
    const ids = keys.map(({ keyId }) => keyId);
    const rows = days.map(({ day, keyId, characters, requests }) => [day - FIRST, ids.indexOf(keyId), characters, requests]);
    expect(rows).toEqual(expected);
  };

  it.team('commits are counted for their day and key; reservations, releases, expiries and repetitions are not', async (team) => {
    await play(subject, team, 'use 7; hold a 5; commit a');
    expect(await team.commit(team.reserved.get('a')!, subject.again)).toEqual({ kind: 'absent' });
    await play(subject, team, 'hold b 100; release b; hold c 200 for 1000; hold d 400; touch');
    await expectRows(team, [0, 0, 12, 2]);
    await play(subject, team, 'wait 1000; open 1');
    await expectRows(team, [0, 0, 12, 2]);
  });

  it.team(
    'the day is that of the commit, by the store’s clock, starting at midnight UTC, also where the period ends then',
    { period: 'P1D@calendar' },
    async (team) => {
      await play(subject, team, `at ${BEFORE_MIDNIGHT}; hold before 3; hold after 4; commit before; at ${MIDNIGHT}; commit after; use 5`);
      await expectRows(team, [0, 0, 3, 1], [1, 0, 9, 2]);
    },
  );

  it.team('days are in order, keys of a day in order of creation, only those with usage, including revoked ones', async (team) => {
    const [second, , third] = [await team.newKey('second'), await team.newKey('unused'), await team.newKey('third', 'test')];
    for (const [characters, { keyId }] of [
      [1, third],
      [2, second],
    ] as const)
      await team.use(characters, { keyId });
    subject.clock.step(2 * DAY_MS);
    for (const [characters, { keyId }] of [
      [3, third],
      [4, team],
      [5, third],
    ] as const)
      await team.use(characters, { keyId });
    await team.revoke(third.keyId);
    await expectRows(team, [0, 1, 2, 1], [0, 2, 1, 1], [2, 0, 4, 1], [2, 2, 8, 2]);
    const listed = answered(await subject.store.teams.listKeys(team.teamId))!;
    const { keys } = await found(team.teamId, { from: FIRST, to: FIRST + 2 });
    expect(keys).toEqual(listed.filter(({ label }) => label !== 'unused'));
    expect(keys.at(-1)?.status).toBe('revoked');
    expect((await found(team.teamId, { from: FIRST, to: FIRST + 1 })).keys.map(({ label }) => label)).toEqual(['second', 'third']);
  });

  it.team('both ends of the range are inclusive, and days outside are not returned', async (team) => {
    await play(subject, team, [1, 2, 3, 4].map((characters) => `use ${characters}; wait ${DAY_MS}`).join(';'));
    for (const [from, to, counts] of [
      [0, 3, [1, 2, 3, 4]],
      [1, 2, [2, 3]],
      [3, 3, [4]],
      [4, 90, []],
      [-90, -1, []],
    ] as const) {
      const { days } = await found(team.teamId, { from: FIRST + from, to: FIRST + to });
      expect(days.map(({ characters }) => characters)).toEqual(counts);
    }
  });

  it.team('a clock that steps back over midnight loses nothing', async (team) => {
    await play(subject, team, `at ${MIDNIGHT}; back 1000; use 1; wait 2000; use 2; back 2000; use 4`);
    await expectRows(team, [0, 0, 5, 2], [1, 0, 2, 1]);
    await play(subject, team, `wait 2000; use 8; wait ${3 * DAY_MS}; use 16; back ${3 * DAY_MS}; use 32`);
    await expectRows(team, [0, 0, 5, 2], [1, 0, 42, 3], [4, 0, 16, 1]);
  });

  it.team('a team without usage has no days, and an unknown team is undefined', async (team) => {
    await team.reserve(5);
    const range = { from: FIRST, to: FIRST };
    const record = answered(await subject.store.teams.findTeam(team.teamId));
    expect(await found(team.teamId, range)).toEqual({ team: record, keys: [], days: [] });
    expect(await subject.store.history.days(newId(), range)).toBeUndefined();
  });

  it.team('days stay for 400 days, without any other activity', async (team) => {
    await play(subject, team, `use 6; wait ${RETAINED_DAYS * DAY_MS - LEASE_MS}`);
    await expectRows(team, [0, 0, 6, 1]);
    await team.use(7);
    await expectRows(team, [0, 0, 6, 1], [RETAINED_DAYS, 0, 7, 1]);
  });

  it('pages of teams have the same days, including teams without usage, in order of creation', async ({ store, again }) => {
    const mark = newId();
    const teams: TeamUnderTest[] = [];
    for (const characters of [0, 3, 0, 5, 7]) {
      const team = await teamUnderTest(store);
      answered(await store.teams.updateTeam(team.teamId, { name: `Of ${mark}` }));
      if (characters > 0) await team.use(characters);
      teams.push(team);
    }
    const range = { from: FIRST - 1, to: FIRST + 1 };
    const whole = await Promise.all(teams.map(({ teamId }) => found(teamId, range)));
    for (const [after, limit, search, expected] of [
      [undefined, 10, mark, whole],
      [teams[1]!.teamId, 2, mark.toLowerCase(), whole.slice(2, 4)],
      [teams[0]!.teamId, 4, undefined, whole.slice(1)],
      [teams[4]!.teamId, 10, mark, []],
    ] as const) {
      expect(answered(await again.history.pageDays({ after, limit, search }, range))).toEqual(expected);
    }
  });
}

export function tagContract(it: AddStoreCase, subject: Subject): void {
  const { clock } = subject;
  /** Its days of the last 400 from the given one on, as `[tag, day, characters, requests]`. */
  const expectRows = async (
    { teamId }: TeamUnderTest,
    from: number,
    ...expected: readonly (readonly [string, number, number, number])[]
  ) => {
    for (const store of [subject.again, subject.store]) {
      const found = answered(await store.tags.days(teamId, { from: FIRST + from, to: FIRST + RETAINED_DAYS }));
      expect(found.map(({ tag, day, characters, requests }) => [tag, day - FIRST, characters, requests])).toEqual(expected);
    }
  };

  it.team('a commit counts its characters and one request for its tag; releases, expiries and repetitions do not', async (team) => {
    const acme = team.with(tagged('acme'));
    await play(subject, acme, 'hold a 7; commit a; commit a: absent; use 5; hold b 100; release b; hold c 200 for 1000');
    await play(subject, acme, 'hold d 10; commit d 4; hold e 10; commit e 0');
    await team.use(3, tagged('z!~"#'));
    await team.use(11);
    await play(subject, team.with(tagged('touched')), 'touch; wait 1000; touch');
    await expectRows(team, 0, ['acme', 0, 16, 4], ['z!~"#', 0, 3, 1]);
    const { days } = answered(await subject.store.history.days(team.teamId, { from: FIRST, to: FIRST }))!;
    expect(days).toMatchObject([{ characters: 30, requests: 6 }]);
  });

  it.team('with as many tags as are counted, further ones are counted together', async (team) => {
    for (const name of ['a', 'b', 'c', 'd', 'a']) await team.use(1, tagged(name, 2));
    await team.use(10, tagged(FURTHER_TAGS, 2));
    await team.use(20, tagged('c', 3));
    await team.use(40, tagged('d', 3));
    await expectRows(team, 0, ['*', 0, 52, 4], ['a', 0, 2, 2], ['b', 0, 1, 1], ['c', 0, 20, 1]);
    clock.step(DAY_MS);
    await team.use(2, tagged('e', 3));
    await team.use(3, tagged('b', 3));
    await expectRows(team, 1, ['*', 1, 2, 1], ['b', 1, 3, 1]);
  });

  it.team('the one for further tags takes no place of another, if both are new at once', async (team) => {
    await team.use(1, tagged('a', 2));
    await team.use(1, tagged('b', 2));
    const [further, more] = [await team.reserve(10, tagged(FURTHER_TAGS, 2)), await team.reserve(100, tagged('c', 2))];
    await Promise.all([team.commit(further.requestId), team.commit(more.requestId)]);
    await expectRows(team, 0, [FURTHER_TAGS, 0, 110, 2], ['a', 0, 1, 1], ['b', 0, 1, 1]);
  });

  it.team('tags of concurrent requests are counted exactly, and never more of them than are to be', async (team) => {
    const names = Array.from({ length: 60 }, (_, i) => `tag-${i % 20}`);
    const reserved = await Promise.all(names.map((name) => team.reserve(3, tagged(name, 12))));
    await Promise.all(reserved.map(({ requestId }, i) => team.commit(requestId, i % 2 === 0 ? subject.store : subject.again)));
    const found = answered(await subject.store.tags.days(team.teamId, { from: FIRST, to: FIRST }));
    expect(found.filter(({ tag }) => tag !== FURTHER_TAGS)).toHaveLength(12);
    expect(found.reduce((sum, { characters }) => sum + characters, 0)).toBe(180);
    expect(found.reduce((sum, { requests }) => sum + requests, 0)).toBe(60);
  });

  it.team('tags and limits of windows do not get in each other’s way', { windows: 'characters=100/day requests=9/hour' }, async (team) => {
    await play(subject, team.with(tagged('acme')), 'hold a 90; release a; use 90; 11: rate_limited');
    await team.use(10);
    await expectRows(team, 0, ['acme', 0, 90, 1]);
  });

  it.team('a deleted team has no tags, whether its usage stays or not', async (team) => {
    const staying = await teamUnderTest(subject.store);
    for (const [one, keepUsage] of [
      [team, false],
      [staying, true],
    ] as const) {
      await one.use(5, tagged('acme'));
      answered(await subject.store.teams.deleteTeam(one.teamId, { keepUsage }));
      await expectRows(one, 0);
    }
  });
}
