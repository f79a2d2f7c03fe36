// Part of the store contract: within any 1,000 ms, exactly the plan's number of requests is admitted.
import { answered } from '../../domain/store-unavailable.ts';
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Subject } from './subject.ts';
import { freshKey, newId, teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

export function rateContract(it: AddCase, subject: Subject): void {
  it.each([1, 5, 50])('a limit of %i admits exactly that many at once, and again after 1,000 ms', async (limit) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    expect(await admittedOf(team, limit + 3)).toBe(limit);
    subject.clock.step(999);
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit, retryAfterMs: 1 });
    subject.clock.step(1);
    expect(await admittedOf(team, limit + 3)).toBe(limit);
  });

  it('the window slides: each slot is freed separately, exactly 1,000 ms after it was taken', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
    for (const waitMs of [0, 300, 300]) {
      subject.clock.step(waitMs);
      expect(await admittedOf(team, 1)).toBe(1);
    }
    for (const waitMs of [399, 299, 299]) {
      subject.clock.step(waitMs);
      expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 1 });
      subject.clock.step(1);
      expect(await admittedOf(team, 2)).toBe(1);
    }
  });

  it('retryAfterMs is the time until the next slot is free', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    await team.touch();
    subject.clock.step(250);
    await team.touch();
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 750 });
  });

  it('a refused request takes no slot', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    await team.touch();
    for (let i = 0; i < 9; i++) {
      subject.clock.step(100);
      expect((await team.touch()).kind).toBe('rate_limited');
    }
    subject.clock.step(100);
    expect((await team.touch()).kind).toBe('admitted');
  });

  it.each(['settled', 'refused and settled'])(
    'slots still count after the clock has reached its next second and a request was %s since',
    async (since) => {
      const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
      // Clocks that count whole seconds reach a boundary here.
      subject.clock.step(1000 - (subject.clock.nowMs() % 1000) + 990);
      const reserved = [await team.reserve(1), await team.reserve(1), await team.reserve(1)];
      subject.clock.step(20);
      for (const { requestId } of reserved) {
        if (since !== 'settled') expect((await team.touch()).kind).toBe('rate_limited');
        expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
        expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 980 });
      }
      subject.clock.step(979);
      expect((await team.touch()).kind).toBe('rate_limited');
      subject.clock.step(1);
      expect(await admittedOf(team, 6)).toBe(3);
    },
  );

  it('a rate_limited id is not remembered and may be admitted later', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    await team.touch();
    const requestId = newId();
    expect((await team.admit({ requestId })).kind).toBe('rate_limited');
    subject.clock.step(1000);
    expect((await team.admit({ requestId })).kind).toBe('admitted');
  });

  it('requests that break a later rule, the length limit or the quota each take a slot', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4, maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    expect((await team.admit({ reserve: false })).kind).toBe('admitted');
    expect((await team.admit({ characters: 51 })).kind).toBe('text_too_long');
    expect((await team.admit({ glossary })).kind).toBe('glossary_missing');
    expect((await team.admit({ characters: 41 })).kind).toBe('quota_exceeded');
    expect((await team.touch()).kind).toBe('rate_limited');
  });

  it('a repeated id, a refused key and a settlement take no slot', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    const revoked = freshKey(team.teamId);
    answered(await subject.store.teams.createKey(revoked));
    answered(await subject.store.teams.revokeKey(revoked.keyId));
    const { requestId } = await team.reserve(10);
    await team.admit({ requestId });
    await team.commit(requestId);
    await team.admit({ requestId });
    await team.admit({ keyId: revoked.keyId });
    await team.admit({ keyId: newId() });
    await team.release(newId());
    expect(await admittedOf(team, 2)).toBe(1);
  });

  it('all keys of a team share its window, and teams have separate ones', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    const other = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    const spare = freshKey(team.teamId);
    answered(await subject.store.teams.createKey(spare));
    await team.touch();
    expect((await team.admit({ keyId: spare.keyId })).kind).toBe('admitted');
    expect((await team.admit({ keyId: spare.keyId })).kind).toBe('rate_limited');
    expect((await other.touch()).kind).toBe('admitted');
  });

  it('a limit raised within the window admits the difference at once', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    expect(await admittedOf(team, 5)).toBe(2);
    await team.setLimits({ requestsPerSecond: 5 });
    expect(await admittedOf(team, 5)).toBe(3);
  });

  it('a limit lowered within the window counts the slots already taken, also in retryAfterMs', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
    for (let i = 0; i < 3; i++) {
      await team.touch();
      subject.clock.step(100);
    }
    await team.setLimits({ requestsPerSecond: 1 });
    // The last of the three was taken 100 ms ago, and alone fills the new limit.
    expect(await team.touch()).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 900 });
    subject.clock.step(899);
    expect((await team.touch()).kind).toBe('rate_limited');
    subject.clock.step(1);
    expect(await admittedOf(team, 2)).toBe(1);
  });
}

async function admittedOf(team: TeamUnderTest, requests: number): Promise<number> {
  let admitted = 0;
  for (let i = 0; i < requests; i++) if ((await team.touch()).kind === 'admitted') admitted++;
  return admitted;
}
