// Part of the store contract: changed limits apply from the next admission on, and reservations keep their terms.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import { GENEROUS_QUOTA, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const OVERAGE = { characterLimit: 10, overageCharacters: 5, overageCapMinor: 50, minorPerMillion: 10_000_000 };

export function planChangeContract(it: AddStoreCase, subject: Subject): void {
  it.team('the record has the new plan and its numbers at once, and keeps everything else', async (team) => {
    const before = answered(await subject.store.teams.findTeam(team.teamId));
    const limits = { ...GENEROUS_QUOTA, characterLimit: 7, currency: 'CHF' };
    const expected = { ...before, plan: 'other', limits };
    expect(await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'other', limits } })).toEqual(expected);
    expect(await subject.store.teams.findTeam(team.teamId)).toEqual(expected);
    expect((await team.usage()).team).toEqual(expected);
  });

  it.team('the limit per request and the quota hold from the next admission on', { characterLimit: 10 }, async (team) => {
    await play(subject, team, 'hold a 10; full');
    await team.setLimits({ characterLimit: 20 });
    await play(subject, team, 'fits 10');
    await team.setLimits({ overageCharacters: 5, overageCapMinor: 50, minorPerMillion: 10_000_000 });
    await play(subject, team, 'fits 5');
    await team.setLimits({ maxCharactersPerRequest: 4 });
    expect(await team.admit({ characters: 5 })).toEqual({ kind: 'text_too_long', maxCharacters: 4 });
  });

  it.team(
    'a quota lowered below current usage refuses everything, but earlier reservations are still charged',
    { characterLimit: 20 },
    'use 10; hold a 10; limits characters=5/period; 1: quota_exceeded by characters=5/period; commit a; used 20; held 0',
  );

  it('a changed period length begins a period at the change, from which the next ones are counted', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT60S' });
    await play(subject, team, 'use 10; wait 25000');
    await team.setLimits({ period: 'PT10S' });
    for (const [start, end] of [
      ['2040-01-15T12:00:25Z', '2040-01-15T12:00:35Z'],
      ['2040-01-15T12:00:55Z', '2040-01-15T12:01:05Z'],
    ] as const) {
      await play(subject, team, `at ${start}; period ${start} ${end}; used 0`);
      expect((await team.usage(subject.again)).keys).toMatchObject([{ characters: 0, requests: 0 }]);
      await play(subject, team, `use 10; 1: quota_exceeded by characters=10/period until ${end}`);
    }
  });

  const PT10S = { characterLimit: 10, period: 'PT10S' };
  it.team('a changed length begins no earlier than the period that it ends, though the clock has stepped back', PT10S, async (team) => {
    await play(subject, team, 'use 10; wait 10000; use 5; back 1000');
    await team.setLimits({ period: 'PT20S' });
    await play(subject, team, 'period 2040-01-15T12:00:10Z 2040-01-15T12:00:30Z; used 0; fits 10');
  });

  it('returning to the first length begins another period: earlier ones do not return, and none counts twice', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'P1M' });
    await play(subject, team, 'use 7; wait 5000');
    await team.setLimits({ period: 'PT1H' });
    await play(subject, team, 'use 3; wait 5000');
    await team.setLimits({ period: 'P1M' });
    expect((await team.usage()).keys).toMatchObject([{ characters: 0, requests: 0 }]);
    await play(subject, team, 'period 2040-01-15T12:00:10Z 2040-02-15T12:00:10Z; used 0; fits 10; full');
  });

  it.team('the overage of a period covers usage since the change', { ...OVERAGE, period: 'PT60S' }, async (team) => {
    await play(subject, team, 'use 15; full');
    await team.setLimits({ ...OVERAGE, period: 'PT90S' });
    await play(subject, team, 'use 15; full');
  });

  it.team(
    'reservations stay in the period that the change ended, even if both began at the same moment',
    { characterLimit: 10 },
    async (team) => {
      await play(subject, team, 'hold a 10');
      await team.setLimits({ period: 'PT30S' });
      await play(subject, team, 'held 0; open 1; fits 10; commit a; used 0; held 10; open 1');
      expect((await team.usage()).keys).toMatchObject([{ characters: 0, requests: 0 }]);
    },
  );

  it.team('a reservation made with quota costs no credit, even if the team has switched to credit', async (team) => {
    await play(subject, team, 'hold a 10');
    await team.setLimits(PREPAID);
    answered(await subject.store.teams.updateTeam(team.teamId, { addMicro: 30_000 }));
    await play(
      subject,
      team,
      'held 10; balance 30000; credit held 0; open 1; 12: admitted; commit a; used 10; balance 30000; credit held 30000',
    );
  });

  it.team(
    'a reservation made with credit costs its credit, even if the team has switched to quota',
    { ...PREPAID, balanceMicro: 30_000 },
    async (team) => {
      await play(subject, team, 'hold a 10');
      await team.setLimits({ ...GENEROUS_QUOTA, characterLimit: 15 });
      await play(
        subject,
        team,
        'held 10; balance 30000; credit held 25000; 6: quota_exceeded; commit a; used 10; balance 5000; credit held 0; fits 5',
      );
    },
  );

  it.team('a reservation keeps the price it was made at', { ...PREPAID, balanceMicro: 100_000 }, async (team) => {
    await play(subject, team, 'hold a 10; hold b 10');
    await team.setLimits({ minorPerMillion: 9000 });
    await play(subject, team, 'credit held 50000; commit a; release b; balance 75000; credit held 0; 9: credit_exhausted');
  });
}
