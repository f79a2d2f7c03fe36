// Part of the store contract: what an admission reports on request: the rate's limit and free slots, and the name of the team's plan.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, LEASE_MS, newId, PREPAID, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

const RATE = { reportRate: true } as const;
const PLAN = { reportPlan: true } as const;
const BOTH = { ...RATE, ...PLAN };

export function reportContract(it: AddStoreCase, subject: Subject): void {
  const rateOf = async (team: TeamUnderTest, request: AdmissionChoices = TOUCH, store = subject.store) => {
    const answer = await team.admit({ ...request, ...RATE }, store);
    return 'rate' in answer ? answer.rate : undefined;
  };
  /** The free slots that are reported to requests after these steps of the clock. */
  const left = async (team: TeamUnderTest, steps: readonly number[]): Promise<unknown[]> => {
    const free: unknown[] = [];
    for (const step of steps) {
      subject.clock.step(step);
      free.push((await rateOf(team))?.remaining);
    }
    return free;
  };

  it.team('nothing is reported unless requested, and nothing else', { requestsPerSecond: 9 }, async (team) => {
    const plain = { kind: 'admitted', reservation: undefined };
    expect(await team.touch()).toEqual(plain);
    expect(await team.admit({ ...TOUCH, ...RATE })).toEqual({ ...plain, rate: { limit: 9, remaining: 7 } });
    expect(await team.admit({ ...TOUCH, ...PLAN })).toEqual({ ...plain, plan: 'test' });
  });

  it('reported with every result: too long, missing glossary, no quota, nothing reserved, reserved', async ({ store, clock }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 9, maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    const reported = (remaining: number) => ({ plan: 'test', rate: { limit: 9, remaining } });
    expect(await team.admit({ ...BOTH, characters: 51 })).toEqual({ kind: 'text_too_long', maxCharacters: 50, ...reported(8) });
    expect(await team.admit({ ...BOTH, glossary })).toEqual({ kind: 'glossary_missing', ...reported(7) });
    expect(await team.admit({ ...BOTH, characters: 41 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 40, ...reported(6) });
    expect(await team.admit({ ...BOTH, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined, ...reported(5) });
    const requestId = newId();
    const reservation = { requestId, teamId: team.teamId, characters: 10, leaseUntilMs: clock.nowMs() + LEASE_MS };
    expect(await team.admit({ ...BOTH, requestId })).toEqual({ kind: 'admitted', reservation, ...reported(4) });
    // Repeated: it takes no slot.
    expect(await team.admit({ ...BOTH, requestId })).toEqual({ kind: 'admitted', reservation, plan: 'test' });
  });

  it.team('reported without credit, too', { ...PREPAID, requestsPerSecond: 3 }, async (team) => {
    expect(await team.admit(BOTH)).toMatchObject({ kind: 'credit_exhausted', plan: 'test', rate: { limit: 3, remaining: 2 } });
  });

  it('not reported without a slot: a throttled team, an open id, an unknown or revoked key', async ({ store }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 2 });
    const { keyId: revoked } = await team.newKey();
    await team.revoke(revoked);
    const reservation = await team.reserve(10);
    expect(await team.admit({ ...BOTH, requestId: reservation.requestId })).toEqual({ kind: 'admitted', reservation, plan: 'test' });
    expect(await team.admit({ ...BOTH, keyId: revoked })).toEqual({ kind: 'key_revoked' });
    expect(await team.admit({ ...BOTH, keyId: newId() })).toEqual({ kind: 'key_unknown' });
    expect(await rateOf(team)).toEqual({ limit: 2, remaining: 0 });
    expect(await team.admit(BOTH)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1000 });
  });

  it.each([1, 2, 7, 50])('of %i slots each request leaves one less, down to none', async (limit) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    for (let remaining = limit - 1; remaining >= 0; remaining--) expect(await rateOf(team)).toEqual({ limit, remaining });
    expect(await team.admit(RATE)).toEqual({ kind: 'rate_limited', limit, retryAfterMs: 1000 });
  });

  it.team('a changed limit is reported from the next request on', { requestsPerSecond: 4 }, async (team, { clock }) => {
    expect(await left(team, [0, 0, 0])).toEqual([3, 2, 1]);
    await team.setLimits({ requestsPerSecond: 10 });
    expect(await rateOf(team)).toEqual({ limit: 10, remaining: 6 });
    await team.setLimits({ requestsPerSecond: 2 });
    clock.step(999);
    expect((await team.admit(RATE)).kind).toBe('rate_limited');
    clock.step(1);
    expect(await rateOf(team)).toEqual({ limit: 2, remaining: 1 });
  });

  it.team('a new plan is reported from the next request on, by every instance', async (team, { store, again }) => {
    expect(await team.admit(PLAN, again)).toMatchObject({ plan: 'test' });
    answered(await store.teams.updateTeam(team.teamId, { plan: { name: 'größer', limits: GENEROUS_QUOTA } }));
    for (const one of [store, again]) expect(await team.admit(PLAN, one)).toMatchObject({ plan: 'größer' });
  });

  it('100 concurrent requests over two instances report each number of free slots once', async ({ store, again }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 60 });
    const asked = Array.from({ length: 100 }, (_, index) => rateOf(team, {}, index % 2 === 0 ? store : again));
    const free = (await Promise.all(asked)).map((rate) => rate?.remaining).filter((remaining) => remaining !== undefined);
    expect(free.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, remaining) => remaining));
  });
}
