// Part of the store contract: prepaid credit, exact to the millionth of a minor unit and never below zero.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

export function creditContract(it: AddStoreCase, subject: Subject): void {
  it('a balance exactly covers a request, and one millionth less does not', async () => {
    const short = await teamUnderTest(subject.store, PREPAID, 24_999);
    expect((await short.admit({ characters: 10 })).kind).toBe('credit_exhausted');
    const exact = await teamUnderTest(subject.store, PREPAID, 25_000);
    expect(await exact.kinds({ characters: 10 }, { characters: 1 })).toEqual(['admitted', 'credit_exhausted']);
  });

  it('the refusal rounds the balance down and the price up, to whole minor units', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion: 333_333, currency: 'CHF' }, 2_999_999);
    // 10 characters cost 3,333,330 millionths.
    expect(await team.admit({ characters: 10 })).toEqual({ kind: 'credit_exhausted', balanceMinor: 2, requiredMinor: 4, currency: 'CHF' });
  });

  it.team('whole minor units are not rounded', { ...PREPAID, minorPerMillion: 1_000_000, balanceMicro: 3_000_000 }, async (team) => {
    expect(await team.admit({ characters: 4 })).toEqual({ kind: 'credit_exhausted', balanceMinor: 3, requiredMinor: 4, currency: 'EUR' });
  });

  it('the balance in a refusal is reduced by open reservations', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion: 1_000_000 }, 5_500_000);
    await team.reserve(4);
    expect(await team.admit({ characters: 2 })).toEqual({ kind: 'credit_exhausted', balanceMinor: 1, requiredMinor: 2, currency: 'EUR' });
  });

  it('a commit deducts the price; a release or an expired lease deducts nothing', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000);
    const [committed, released] = [await team.reserve(7), await team.reserve(10)];
    await team.reserve(11, { leaseMs: 500 });
    expect(await team.standing()).toMatchObject({ balanceMicro: 1_000_000, heldMicro: 70_000, heldCharacters: 28, openReservations: 3 });
    await team.commit(committed.requestId);
    await team.release(released.requestId);
    expect(await team.standing()).toMatchObject({ balanceMicro: 982_500, heldMicro: 27_500 });
    subject.clock.step(500);
    expect(await team.standing()).toEqual({ usedCharacters: 7, balanceMicro: 982_500, ...NOTHING_HELD });
    expect((await team.usage()).team.balanceMicro).toBe(982_500);
  });

  it('credit held by a lease can be spent from the millisecond when it expires', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 25_000);
    await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(499);
    expect((await team.admit({ characters: 10 })).kind).toBe('credit_exhausted');
    subject.clock.step(1);
    expect((await team.admit({ characters: 10 })).kind).toBe('admitted');
  });

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
    const { requestId } = await team.reserve(3);
    expect(await team.standing()).toMatchObject({ balanceMicro, heldMicro: 3 });
    await team.commit(requestId);
    expect(await team.standing()).toMatchObject({ balanceMicro: balanceMicro - 3, heldMicro: 0 });
    answered(await subject.store.teams.updateTeam(team.teamId, { addMicro: 2 }));
    expect(await team.standing()).toMatchObject({ balanceMicro: balanceMicro - 1 });
  });

  it.team('a price of 0 admits requests on an empty balance', { ...PREPAID, minorPerMillion: 0 }, async (team) => {
    const { requestId } = await team.reserve(10);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.standing()).toMatchObject({ balanceMicro: 0, usedCharacters: 10 });
  });

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
