// Part of the store contract: periods counted from the team's creation, and reservations that stay in theirs. Changes of
// length: plan-change-contract.ts.
import { expect } from '../expect.ts';
import { teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

export function periodContract(it: AddStoreCase, subject: Subject): void {
  it.team('the first period starts at the team’s creation and ends one duration later', { period: 'PT2S' }, async (team) => {
    const startMs = subject.clock.nowMs();
    subject.clock.step(1999);
    expect(await team.usage()).toMatchObject({ periodStartMs: startMs, periodEndMs: startMs + 2000 });
    subject.clock.step(1);
    expect(await team.usage()).toMatchObject({ periodStartMs: startMs + 2000, periodEndMs: startMs + 4000 });
  });

  it.team('the end of a period restores the whole quota, at its millisecond', { characterLimit: 10, period: 'PT2S' }, async (team) => {
    const { requestId } = await team.reserve(10);
    await team.commit(requestId);
    subject.clock.step(1999);
    expect((await team.admit()).kind).toBe('quota_exceeded');
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
    expect(await team.kinds({}, {})).toEqual(['admitted', 'quota_exceeded']);
  });

  it.team('usage starts again with each period, for the team and for every key', { period: 'PT2S' }, async (team) => {
    const spare = await team.newKey();
    for (const keyId of [team.keyId, spare.keyId]) await team.use(10, { keyId });
    expect(await team.usage()).toMatchObject({ characters: 20, keys: [{ characters: 10 }, { characters: 10 }] });
    subject.clock.step(2000);
    const none = { characters: 0, requests: 0 };
    expect(await team.usage()).toMatchObject({ characters: 0, keys: [none, none] });
    await team.use(3, { keyId: spare.keyId });
    expect(await team.usage()).toMatchObject({ characters: 3, keys: [none, { characters: 3, requests: 1 }] });
  });

  it('a reservation is charged to the period it was made in, and never to the next', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT2S' });
    const { requestId } = await team.reserve(10);
    subject.clock.step(2000);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 0 }] });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
    expect((await team.admit()).kind).toBe('admitted');
  });

  it('reservations of an earlier period stay open, do not count against the new one, and free nothing there when released', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT2S' });
    const { requestId } = await team.reserve(10);
    subject.clock.step(2000);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 1 });
    await team.reserve(10);
    await team.release(requestId);
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it.team('periods without activity are skipped', { characterLimit: 10, period: 'PT2S' }, async (team) => {
    const startMs = subject.clock.nowMs();
    await team.reserve(10);
    subject.clock.step(7 * 2000 + 1);
    expect(await team.admit({ characters: 11 })).toMatchObject({ kind: 'quota_exceeded', periodEndMs: startMs + 8 * 2000 });
    expect(await team.usage()).toMatchObject({ periodStartMs: startMs + 7 * 2000, periodEndMs: startMs + 8 * 2000 });
  });

  it('a monthly period from the 31st ends on the last day of a short month, and returns to the 31st', async () => {
    subject.clock.set(Date.UTC(2040, 0, 31, 18, 30));
    const team = await teamUnderTest(subject.store, { characterLimit: 10 });
    const bounds = [
      Date.UTC(2040, 0, 31, 18, 30),
      Date.UTC(2040, 1, 29, 18, 30),
      Date.UTC(2040, 2, 31, 18, 30),
      Date.UTC(2040, 3, 30, 18, 30),
    ];
    for (const [i, startMs] of bounds.slice(0, -1).entries()) {
      const endMs = bounds[i + 1] ?? 0;
      subject.clock.set(startMs);
      await team.use(10);
      subject.clock.set(endMs - 1);
      expect(await team.admit()).toMatchObject({ kind: 'quota_exceeded', periodEndMs: endMs });
      expect(await team.usage()).toMatchObject({ periodStartMs: startMs, periodEndMs: endMs, characters: 10 });
    }
  });

  it('credit is not restored with the period', async () => {
    const limits = { billing: 'credit', characterLimit: 0, minorPerMillion: 1, period: 'PT2S' } as const;
    const team = await teamUnderTest(subject.store, limits, 10);
    const { requestId } = await team.reserve(10);
    subject.clock.step(2000);
    expect((await team.admit()).kind).toBe('credit_exhausted');
    await team.commit(requestId);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, balanceMicro: 0, heldMicro: 0 });
  });
}
