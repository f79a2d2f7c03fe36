// Part of the store contract: changed limits apply from the next admission on, and reservations keep their terms.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

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
    await team.reserve(10);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    await team.setLimits({ characterLimit: 20 });
    await team.reserve(10);
    await team.setLimits({ overageCharacters: 5, overageCapMinor: 50, minorPerMillion: 10_000_000 });
    await team.reserve(5);
    await team.setLimits({ maxCharactersPerRequest: 4 });
    expect(await team.admit({ characters: 5 })).toEqual({ kind: 'text_too_long', maxCharacters: 4 });
  });

  it('a quota lowered below current usage refuses everything, but earlier reservations are still charged', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 20 });
    const [first, second] = [await team.reserve(10), await team.reserve(10)];
    await team.commit(first.requestId);
    await team.setLimits({ characterLimit: 5 });
    expect(await team.admit({ characters: 1 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 5 });
    expect(await team.commit(second.requestId)).toEqual({ kind: 'committed' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 20, heldCharacters: 0 });
  });

  it('a changed period length begins a period at the change, from which the next ones are counted', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT60S' });
    const createdMs = subject.clock.nowMs();
    await team.use(10);
    subject.clock.step(25_000);
    await team.setLimits({ period: 'PT10S' });
    for (const [periodStartMs, characters] of [
      [createdMs + 25_000, 0],
      [createdMs + 55_000, 0],
    ] as const) {
      subject.clock.set(periodStartMs);
      const keys = [{ characters: 0, requests: 0 }];
      expect(await team.usage(subject.again)).toMatchObject({ periodStartMs, periodEndMs: periodStartMs + 10_000, characters, keys });
      await team.use(10);
      expect(await team.admit({ characters: 1 })).toMatchObject({ kind: 'quota_exceeded', periodEndMs: periodStartMs + 10_000 });
    }
  });

  it('returning to the first length begins another period: earlier ones do not return, and none counts twice', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'P1M' });
    await team.use(7);
    subject.clock.step(5000);
    await team.setLimits({ period: 'PT1H' });
    await team.use(3);
    subject.clock.step(5000);
    await team.setLimits({ period: 'P1M' });
    const usage = await team.usage();
    expect(usage).toMatchObject({ periodStartMs: subject.clock.nowMs(), characters: 0, keys: [{ characters: 0, requests: 0 }] });
    await team.reserve(10);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it('the overage of a period covers usage since the change', async () => {
    const overage = { characterLimit: 10, overageCharacters: 5, overageCapMinor: 50, minorPerMillion: 10_000_000 };
    const team = await teamUnderTest(subject.store, { ...overage, period: 'PT60S' });
    await team.use(15);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    await team.setLimits({ ...overage, period: 'PT90S' });
    await team.use(15);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it.team('an unchanged period length continues the period', { characterLimit: 10 }, async (team) => {
    await team.use(10);
    await team.setLimits({ characterLimit: 11 });
    expect((await team.usage()).characters).toBe(10);
    expect((await team.admit({ characters: 2 })).kind).toBe('quota_exceeded');
  });

  it('reservations stay in the period that the change ended, even if both began at the same moment', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT60S' });
    const { requestId } = await team.reserve(10);
    await team.setLimits({ period: 'PT30S' });
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 1 });
    await team.reserve(10);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 10, openReservations: 1 });
    expect((await team.usage()).keys).toMatchObject([{ characters: 0, requests: 0 }]);
  });

  it.team('a reservation made with quota costs no credit, even if the team has switched to credit', async (team) => {
    const { requestId } = await team.reserve(10);
    await team.setLimits(PREPAID);
    answered(await subject.store.teams.updateTeam(team.teamId, { addMicro: 30_000 }));
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, balanceMicro: 30_000, heldMicro: 0, openReservations: 1 });
    expect((await team.admit({ characters: 12 })).kind).toBe('admitted');
    await team.commit(requestId);
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, balanceMicro: 30_000, heldMicro: 30_000 });
  });

  it('a reservation made with credit costs its credit, even if the team has switched to quota', async () => {
    const team = await teamUnderTest(subject.store, PREPAID, 30_000);
    const { requestId } = await team.reserve(10);
    await team.setLimits({ ...GENEROUS_QUOTA, characterLimit: 15 });
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, balanceMicro: 30_000, heldMicro: 25_000 });
    expect((await team.admit({ characters: 6 })).kind).toBe('quota_exceeded');
    await team.commit(requestId);
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, balanceMicro: 5000, heldMicro: 0 });
    expect((await team.admit({ characters: 6 })).kind).toBe('quota_exceeded');
  });

  it.team('a reservation keeps the price it was made at', { ...PREPAID, balanceMicro: 100_000 }, async (team) => {
    const [first, second] = [await team.reserve(10), await team.reserve(10)];
    await team.setLimits({ minorPerMillion: 9000 });
    expect(await team.standing()).toMatchObject({ heldMicro: 50_000 });
    await team.commit(first.requestId);
    await team.release(second.requestId);
    expect(await team.standing()).toMatchObject({ balanceMicro: 75_000, heldMicro: 0 });
    expect((await team.admit({ characters: 9 })).kind).toBe('credit_exhausted');
  });
}
