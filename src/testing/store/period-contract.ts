// Part of the store contract: periods counted from the team's creation or by the UTC calendar, and reservations that stay in theirs. Other
// changes of length: plan-change-contract.ts.
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import { teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

/** A team that is made when the clock is at START_MS (movable-clock.ts). */
const SHORT = { characterLimit: 10, period: 'PT2S' };

export function periodContract(it: AddStoreCase, subject: Subject): void {
  it.team(
    'the first period starts at the team’s creation and ends one duration later; those without activity are skipped',
    SHORT,
    `wait 1999; period 2040-01-15T12:00:00Z 2040-01-15T12:00:02Z; wait 1; period 2040-01-15T12:00:02Z 2040-01-15T12:00:04Z;
        hold a 10; wait 12001; 11: quota_exceeded by characters=10/period until 2040-01-15T12:00:16Z;
        period 2040-01-15T12:00:14Z 2040-01-15T12:00:16Z`,
  );

  it.team('usage starts again with each period, for the team and for every key', SHORT, async (team) => {
    const spare = await team.newKey();
    for (const keyId of [team.keyId, spare.keyId]) await team.use(5, { keyId });
    expect(await team.usage()).toMatchObject({ characters: 10, keys: [{ characters: 5 }, { characters: 5 }] });
    await play(subject, team, 'wait 1999; full; wait 1; used 0; held 0');
    const none = { characters: 0, requests: 0 };
    expect(await team.usage()).toMatchObject({ characters: 0, keys: [none, none] });
    await team.use(3, { keyId: spare.keyId });
    expect(await team.usage()).toMatchObject({ characters: 3, keys: [none, { characters: 3, requests: 1 }] });
  });

  it.team(
    'reservations of an earlier period stay open, are charged to it, and neither count nor free anything in the new one',
    SHORT,
    async (team) => {
      await play(
        subject,
        team,
        'hold a 4; hold b 6; wait 2000; held 0; open 2; commit a; used 0; fits 10; release b; used 0; held 10; open 1; full',
      );
      expect((await team.usage()).keys).toMatchObject([{ characters: 0, requests: 0 }]);
    },
  );

  it('a monthly period from the 31st ends on the last day of a short month, and returns to the 31st', async () => {
    const bounds = ['2040-01-31T18:30:00Z', '2040-02-29T18:30:00Z', '2040-03-31T18:30:00Z', '2040-04-30T18:30:00Z'];
    subject.clock.set(Date.parse(bounds[0]!));
    const team = await teamUnderTest(subject.store, { characterLimit: 10 });
    for (const [i, end] of bounds.slice(1).entries()) {
      const last = new Date(Date.parse(end) - 1).toISOString();
      await play(
        subject,
        team,
        `at ${bounds[i]}; use 10; at ${last}; 1: quota_exceeded by characters=10/period until ${end}; period ${bounds[i]} ${end}; used 10`,
      );
    }
  });

  it.team(
    'credit is not restored with the period',
    { billing: 'credit', characterLimit: 0, minorPerMillion: 1, period: 'PT2S', balanceMicro: 10 },
    'hold a 10; wait 2000; full; commit a; used 0; balance 0; credit held 0',
  );
}

export function calendarContract(it: AddStoreCase, subject: Subject): void {
  const teamAt = async (moment: string, period: string) => {
    subject.clock.set(Date.parse(moment));
    return teamUnderTest(subject.store, { characterLimit: 10, period });
  };

  it.each([
    ['P1M', '2041-11-01', '2041-12-01'],
    ['P1D', '2041-11-22', '2041-11-23'],
    ['P1Y', '2041-01-01', '2042-01-01'],
    ['P7D', '2041-11-18', '2041-11-25'],
    ['P1W', '2041-11-18', '2041-11-25'],
  ] as const)('on Friday 2041-11-22, %s by the calendar is from %s to %s', async (length, start, end) => {
    const team = await teamAt('2041-11-22T15:30:00Z', `${length}@calendar`);
    await play(subject, team, `period ${start} ${end}; use 10; 1: quota_exceeded by characters=10/period until ${end}`);
    expect((await team.usage()).team.limits.period).toBe(`${length}@calendar`);
  });

  it('periods follow without gaps, also after a long idle time', async () => {
    const team = await teamAt('2041-01-31T23:59:59Z', 'P1M@calendar');
    await play(
      subject,
      team,
      'use 10; at 2041-02-01; use 10; period 2041-02-01 2041-03-01; at 2042-05-31T12:00Z; used 0; period 2042-05-01 2042-06-01',
    );
  });

  it('switching to the calendar leaves the current period unchanged; the next one ends at a calendar boundary', async () => {
    const team = await teamAt('2041-01-15T10:00Z', 'P1M');
    await team.use(7);
    await team.setLimits({ period: 'P1M@calendar' });
    await play(
      subject,
      team,
      `period 2041-01-15T10:00Z 2041-02-15T10:00Z; used 7; fits 3; at 2041-02-15T10:00Z; use 10; period 2041-02-15T10:00Z 2041-03-01;
        at 2041-03-01; use 10; period 2041-03-01 2041-04-01; at 2041-04-01; use 10; period 2041-04-01 2041-05-01; full`,
    );
  });

  it('a team that is idle after such a change continues in the full month of its next request', async () => {
    const team = await teamAt('2041-01-15T10:00Z', 'P1M');
    await team.setLimits({ period: 'P1M@calendar' });
    await play(subject, team, 'at 2041-06-20; use 1; period 2041-06-01 2041-07-01');
  });

  it('switching back leaves the current period unchanged, and later ones are counted from the creation again', async () => {
    const team = await teamAt('2041-01-20T10:00Z', 'P1M@calendar');
    await team.setLimits({ period: 'P1M' });
    await play(
      subject,
      team,
      'period 2041-01-01 2041-02-01; at 2041-02-01; period 2041-02-01 2041-02-20T10:00Z; at 2041-02-20T10:00Z; period 2041-02-20T10:00Z 2041-03-20T10:00Z',
    );
  });

  it('a different length begins a period at the change, which ends at a calendar boundary', async () => {
    const team = await teamAt('2041-01-15T10:00Z', 'P1Y');
    await play(subject, team, 'use 10; at 2041-01-16T10:00Z');
    await team.setLimits({ period: 'P1M@calendar' });
    await play(subject, team, 'period 2041-01-16T10:00Z 2041-02-01; use 10; full; at 2041-02-01; use 10');
    await team.setLimits({ period: 'P1D@calendar' });
    await play(subject, team, 'period 2041-02-01 2041-02-02; used 0');
  });
}
