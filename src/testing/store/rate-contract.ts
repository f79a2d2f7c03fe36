// Part of the store contract: within any 1,000 ms, exactly the plan's number of requests is admitted; a clock that steps back
// neither locks a team out nor admits it twice.
import { expect } from '../expect.ts';
import { newId, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

/** How many of so many requests are admitted. */
async function admittedOf(team: TeamUnderTest, requests: number): Promise<number> {
  const kinds = await team.kinds(...Array.from({ length: requests }, () => TOUCH));
  return kinds.filter((kind) => kind === 'admitted').length;
}

export function rateContract(it: AddStoreCase, subject: Subject): void {
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
      expect(await team.waits(subject.clock, [979, 1, 0, 0, 0])).toEqual([1, 0, 0, 0, 1000]);
    },
  );

  it('requests that break a later rule, the length limit or the quota each take a slot', async ({ store }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 4, maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    const kinds = await team.kinds({ reserve: false }, { characters: 51 }, { glossary }, { characters: 41 }, TOUCH);
    expect(kinds).toEqual(['admitted', 'text_too_long', 'glossary_missing', 'quota_exceeded', 'rate_limited']);
  });

  it.team('an open id, a refused key and a settlement take no slot', { requestsPerSecond: 2 }, async (team) => {
    const { keyId: revoked } = await team.newKey();
    await team.revoke(revoked);
    const { requestId } = await team.reserve(10);
    await team.kinds({ requestId }, { requestId }, { keyId: revoked }, { keyId: newId() });
    await team.commit(requestId);
    await team.release(newId());
    expect(await admittedOf(team, 2)).toBe(1);
  });

  it.team('all keys of a team share its window, and teams have separate ones', { requestsPerSecond: 2 }, async (team, { store }) => {
    const other = await teamUnderTest(store, { requestsPerSecond: 1 });
    const { keyId } = await team.newKey();
    expect(await team.kinds(TOUCH, { keyId }, { keyId })).toEqual(['admitted', 'admitted', 'rate_limited']);
    expect((await other.touch()).kind).toBe('admitted');
  });
}

export function clockContract(it: AddStoreCase, subject: Subject): void {
  it.team('the last use never moves back, not even on a refused request', { requestsPerSecond: 2 }, async (team) => {
    await team.touch();
    const usedAtMs = subject.clock.nowMs();
    expect(await team.waits(subject.clock, [-HOUR_MS, 0])).toEqual([0, 1000]);
    expect((await team.usage()).keys[0]?.lastUsedAtMs).toBe(usedAtMs);
  });

  it('an expired lease whose characters were reserved again is not settled when the clock steps back', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10 });
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    const heir = await team.reserve(10);
    subject.clock.step(-100);
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.commit(heir.requestId)).toEqual({ kind: 'committed' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
  });

  it('a period that has begun is not replaced by an earlier one with a fresh quota', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 10, period: 'PT10S' });
    subject.clock.step(10_000);
    await team.use(10);
    const periodEndMs = subject.clock.nowMs() + 10_000;
    subject.clock.step(-1);
    expect(await team.admit()).toEqual({ kind: 'quota_exceeded', characterLimit: 10, overageCapMinor: 0, periodEndMs });
    expect((await team.usage()).characters).toBe(10);
  });
}
