// Part of the store contract: within any 1,000 ms, exactly the plan's number of requests is admitted, whichever way the clock steps; and what an
// admission reports on request: the rate's limit and free slots, and the name of the team's plan.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, LEASE_MS, newId, PREPAID, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

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

  it.team('an open id, a refused key and a settlement take no slot', { requestsPerSecond: 2 }, async (team) => {
    const { keyId: revoked } = await team.newKey();
    await team.revoke(revoked);
    const { requestId } = await team.reserve(10);
    await team.kinds({ requestId }, { requestId }, { keyId: revoked }, { keyId: newId() });
    await team.commit(requestId);
    await team.release(newId());
    expect(await team.kinds(TOUCH, TOUCH)).toEqual(['admitted', 'rate_limited']);
  });

  it('all keys of a team share its rate and quota, and teams have separate ones', async ({ store }) => {
    const limits = { requestsPerSecond: 2, characterLimit: 20 };
    const [team, other] = [await teamUnderTest(store, limits), await teamUnderTest(store, limits)];
    const { keyId } = await team.newKey();
    expect(await team.kinds({}, { keyId }, { keyId })).toEqual(['admitted', 'admitted', 'rate_limited']);
    subject.clock.step(1000);
    expect(await team.kinds({}, { keyId }, {})).toEqual(['quota_exceeded', 'quota_exceeded', 'rate_limited']);
    expect(await other.kinds({}, {})).toEqual(['admitted', 'admitted']);
  });
}

export function clockContract(it: AddStoreCase, subject: Subject): void {
  it.team('the last use never moves back, not even on a refused request', { requestsPerSecond: 2 }, async (team) => {
    await team.touch();
    const usedAtMs = subject.clock.nowMs();
    expect(await team.waits(subject.clock, [-HOUR_MS, 0])).toEqual([0, 1000]);
    expect((await team.usage()).keys[0]?.lastUsedAtMs).toBe(usedAtMs);
  });

  it.team(
    'an expired lease whose characters were reserved again is not settled when the clock steps back',
    { characterLimit: 10 },
    'hold a 10 for 500; wait 500; hold heir 10; back 100; commit a: absent; commit heir; used 10; held 0; open 0',
  );

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

const RATE = { reportRate: true } as const;
const PLAN = { reportPlan: true } as const;
const BOTH = { ...RATE, ...PLAN };

export function reportContract(it: AddStoreCase, subject: Subject): void {
  const rateOf = async (team: TeamUnderTest, request: AdmissionChoices = TOUCH, store = subject.store) => {
    const answer = await team.admit({ ...request, ...RATE }, store);
    return 'rate' in answer ? answer.rate : undefined;
  };

  it.team('nothing is reported unless requested, and nothing else', { requestsPerSecond: 9 }, async (team) => {
    const plain = { kind: 'admitted', reservation: undefined };
    expect(await team.touch()).toEqual(plain);
    expect(await team.admit({ ...TOUCH, ...RATE })).toEqual({ ...plain, rate: { limit: 9, remaining: 7 } });
    expect(await team.admit({ ...TOUCH, ...PLAN })).toEqual({ ...plain, plan: 'test' });
  });

  it('reported with every result that takes a slot', async ({ store, clock }) => {
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
    for (const remaining of [3, 2, 1]) expect(await rateOf(team)).toEqual({ limit: 4, remaining });
    await team.setLimits({ requestsPerSecond: 10 });
    expect(await rateOf(team)).toEqual({ limit: 10, remaining: 6 });
    await team.setLimits({ requestsPerSecond: 2 });
    clock.step(999);
    expect((await team.admit(RATE)).kind).toBe('rate_limited');
    clock.step(1);
    expect(await rateOf(team)).toEqual({ limit: 2, remaining: 1 });
  });

  it.team('a new plan holds and is reported from the next request on, on every instance', async (team, { store, again }) => {
    expect(await team.admit(PLAN, again)).toMatchObject({ plan: 'test' });
    const limits = { ...GENEROUS_QUOTA, maxCharactersPerRequest: 9 };
    answered(await store.teams.updateTeam(team.teamId, { plan: { name: 'größer', limits } }));
    for (const one of [again, store]) {
      expect(await team.admit(PLAN, one)).toEqual({ kind: 'text_too_long', maxCharacters: 9, plan: 'größer' });
    }
  });

  it('100 concurrent requests over two instances report each number of free slots once', async ({ store, again }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 60 });
    const asked = Array.from({ length: 100 }, (_, index) => rateOf(team, {}, index % 2 === 0 ? store : again));
    const free = (await Promise.all(asked)).map((rate) => rate?.remaining).filter((remaining) => remaining !== undefined);
    expect(free.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, remaining) => remaining));
  });
}
