// Part of the store contract: used, held and requested characters together never exceed the limit and its overage.
import { expect } from '../expect.ts';
import { LEASE_MS, NOTHING_HELD, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const CREATED_MONTH_END_MS = Date.UTC(2040, 1, 15, 12, 0, 0);

export function quotaContract(it: AddStoreCase, subject: Subject): void {
  it.team('500 characters admit exactly 50 requests of 10', { characterLimit: 500 }, async (team) => {
    expect(await committedOf(team, 53, 10)).toBe(50);
    expect(await team.standing()).toMatchObject({ usedCharacters: 500, heldCharacters: 0, openReservations: 0 });
  });

  it('the limit and its overage are exact to the character', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 100, overageCharacters: 7, overageCapMinor: 70 });
    await team.reserve(100);
    expect((await team.admit({ characters: 8 })).kind).toBe('quota_exceeded');
    await team.reserve(7);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it('a single request may fill the limit and its overage, but not exceed it', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 100, overageCharacters: 7 });
    expect(await team.kinds({ characters: 108 }, { characters: 107 })).toEqual(['quota_exceeded', 'admitted']);
  });

  it('the refusal names the included characters, the overage cap and the end of the period', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 9, overageCharacters: 0, overageCapMinor: 5 });
    expect(await team.admit({ characters: 10 })).toEqual({
      kind: 'quota_exceeded',
      characterLimit: 9,
      overageCapMinor: 5,
      periodEndMs: CREATED_MONTH_END_MS,
    });
  });

  it.team('open reservations count against the limit until they are released or their lease ends', { characterLimit: 20 }, async (team) => {
    const first = await team.reserve(10);
    await team.reserve(10, { leaseMs: 500 });
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    await team.release(first.requestId);
    await team.reserve(10);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    subject.clock.step(499);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    subject.clock.step(1);
    expect((await team.admit({ characters: 10 })).kind).toBe('admitted');
  });

  it.team('a refused request consumes no characters and moves no money', { characterLimit: 10 }, async (team) => {
    await team.admit({ characters: 11 });
    expect(await team.standing()).toEqual({ usedCharacters: 0, balanceMicro: 0, ...NOTHING_HELD });
    await team.reserve(10);
  });

  it.team('the balances show what is held, then what is used; usage shows only what is used', async (team) => {
    const { requestId, leaseUntilMs } = await team.reserve(10);
    expect(leaseUntilMs).toBe(subject.clock.nowMs() + LEASE_MS);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 10, openReservations: 1 });
    expect((await team.usage()).characters).toBe(0);
    await team.commit(requestId);
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
    expect((await team.usage()).characters).toBe(10);
  });

  it.team('teams have separate quotas', { characterLimit: 10 }, async (team) => {
    const other = await teamUnderTest(subject.store, { characterLimit: 10 });
    await team.reserve(10);
    expect((await team.admit()).kind).toBe('quota_exceeded');
    expect((await other.admit()).kind).toBe('admitted');
  });
}

async function committedOf(team: TeamUnderTest, requests: number, characters: number): Promise<number> {
  let committed = 0;
  for (let i = 0; i < requests; i++) {
    const admission = await team.admit({ characters });
    if (admission.kind !== 'admitted' || admission.reservation === undefined) continue;
    await team.commit(admission.reservation.requestId);
    committed++;
  }
  return committed;
}
