// Part of the store contract: used, held and requested characters together never exceed the limit and its overage; and prepaid credit, exact to
// the millionth of a minor unit and never below zero. What both have in common with other limits: `limits-contract.ts`.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import { NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const CREATED_MONTH_END_MS = Date.UTC(2040, 1, 15, 12, 0, 0);

export function quotaContract(it: AddStoreCase, subject: Subject): void {
  it('the limit and its overage are exact to the character, in several requests or in one', async () => {
    const limits = { characterLimit: 100, overageCharacters: 7, overageCapMinor: 70 };
    await play(subject, await teamUnderTest(subject.store, limits), 'hold a 100; fits 7; full');
    await play(subject, await teamUnderTest(subject.store, limits), 'fits 107; full');
  });

  it.team(
    'the refusal names the included characters, the overage cap and the end of the period, and moves nothing',
    { characterLimit: 9, overageCharacters: 0, overageCapMinor: 5 },
    async (team) => {
      const refused = { kind: 'quota_exceeded', characterLimit: 9, overageCapMinor: 5, periodEndMs: CREATED_MONTH_END_MS };
      expect(await team.admit({ characters: 10 })).toEqual(refused);
      expect(await team.standing()).toEqual({ usedCharacters: 0, balanceMicro: 0, ...NOTHING_HELD });
    },
  );
}

export function creditContract(it: AddStoreCase, subject: Subject): void {
  it('a balance exactly covers a request, and one millionth less does not', async () => {
    await play(subject, await teamUnderTest(subject.store, PREPAID, 24_999), '10: credit_exhausted; 9: admitted');
    await play(subject, await teamUnderTest(subject.store, PREPAID, 25_000), '10: admitted; 1: credit_exhausted');
  });

  it('the refusal rounds the balance, less what is held, down and the price up, to whole minor units', async () => {
    const refused = async (minorPerMillion: number, balanceMicro: number, held: number, characters: number) => {
      const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion, currency: 'CHF' }, balanceMicro);
      await team.reserve(held);
      return team.admit({ characters });
    };
    const exhausted = { kind: 'credit_exhausted', currency: 'CHF' };
    // 10 characters cost 3,333,330 millionths.
    expect(await refused(333_333, 2_999_999, 0, 10)).toEqual({ ...exhausted, balanceMinor: 2, requiredMinor: 4 });
    expect(await refused(1_000_000, 3_000_000, 0, 4)).toEqual({ ...exhausted, balanceMinor: 3, requiredMinor: 4 });
    expect(await refused(1_000_000, 5_500_000, 4, 2)).toEqual({ ...exhausted, balanceMinor: 1, requiredMinor: 2 });
  });

  it.team(
    'a commit deducts the price; a release or an expired lease deducts nothing',
    { ...PREPAID, balanceMicro: 1_000_000 },
    async (team) => {
      const reserved = 'hold a 7; hold b 10; hold c 11 for 500; balance 1000000; credit held 70000; held 28; open 3';
      await play(subject, team, `${reserved}; commit a; release b; balance 982500; credit held 27500; wait 500`);
      expect(await team.standing()).toEqual({ usedCharacters: 7, balanceMicro: 982_500, ...NOTHING_HELD });
      expect((await team.usage()).team.balanceMicro).toBe(982_500);
    },
  );

  it('credit has no character limit per period, and its usage is reported by month', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000_000);
    const { requestId } = await team.reserve(10_000);
    await team.commit(requestId);
    const usage = await team.usage();
    expect(usage).toMatchObject({ characters: 10_000, periodStartMs: subject.clock.nowMs(), periodEndMs: Date.UTC(2040, 1, 15, 12) });
  });

  it('balances near the largest exact number stay exact', async () => {
    const balanceMicro = Number.MAX_SAFE_INTEGER - 1;
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion: 1 }, balanceMicro);
    await play(subject, team, `hold a 3; balance ${balanceMicro}; credit held 3; commit a; balance ${balanceMicro - 3}; credit held 0`);
    answered(await subject.store.teams.updateTeam(team.teamId, { addMicro: 2 }));
    await play(subject, team, `balance ${balanceMicro - 1}`);
  });

  it.team('a price of 0 admits requests on an empty balance', { ...PREPAID, minorPerMillion: 0 }, 'use 10; balance 0; used 10');

  it('credit can be withdrawn down to what open reservations hold, and the refusal names the free amount', async () => {
    const { teams } = subject.store;
    const team = await teamUnderTest(subject.store, PREPAID, 100_000);
    await team.reserve(10, { leaseMs: 500 });
    await team.reserve(20);
    expect(await teams.updateTeam(team.teamId, { addMicro: -25_001, name: 'x' })).toEqual({ kind: 'credit_not_free', freeMicro: 25_000 });
    expect(await teams.updateTeam(team.teamId, { addMicro: -25_000 })).toMatchObject({ balanceMicro: 75_000 });
    expect(await teams.updateTeam(team.teamId, { addMicro: -1 })).toEqual({ kind: 'credit_not_free', freeMicro: 0 });
    subject.clock.step(500);
    expect(await subject.again.teams.updateTeam(team.teamId, { addMicro: -25_000 })).toMatchObject({ balanceMicro: 50_000 });
    expect(await team.standing()).toMatchObject({ balanceMicro: 50_000, heldMicro: 50_000, openReservations: 1 });
    expect((await team.admit({ characters: 1 })).kind).toBe('credit_exhausted');
  });

  it('the same credit is never both withdrawn and reserved by concurrent operations', async () => {
    const { teams } = subject.store;
    const team = await teamUnderTest(subject.store, PREPAID, 250_000);
    const asked = Array.from({ length: 10 }, () => [
      team.admit({ characters: 10 }),
      subject.again.teams.updateTeam(team.teamId, { addMicro: -25_000 }),
    ]);
    await Promise.all(asked.flat());
    const { balanceMicro, heldMicro } = await team.standing();
    expect([balanceMicro >= heldMicro, balanceMicro % 25_000, heldMicro % 25_000]).toEqual([true, 0, 0]);
    expect(await teams.updateTeam(team.teamId, { addMicro: heldMicro - balanceMicro - 1 })).toMatchObject({ kind: 'credit_not_free' });
  });
}
