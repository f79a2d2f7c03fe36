// Part of the store contract: rate and characters of single keys, in addition to their team's, checked in the same operation.
import type { Admission } from '../../ports/ledger.ts';
import { expect } from '../expect.ts';
import { keyUnderTest, ofKey } from './key-under-test.ts';
import type { KeyUnderTest } from './key-under-test.ts';
import { BACKWARD, FORWARD, holdsForMs } from './rate-contract.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

export function keyUseLimitsContract(it: AddStoreCase, subject: Subject): void {
  it("a request refused by the key's rate takes no slot in the team's window, and vice versa", async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
    const key = await keyUnderTest(subject, { requestsPerSecond: 2 }, team);
    expect(await key.waits(clock, [0, 100, 0, 0, 0])).toEqual([0, 0, 900, 900, 900]);
    expect(ofKey(await key.touch())).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 900 });
    expect((await team.touch()).kind).toBe('admitted');
    for (let i = 0; i < 5; i++) expect(await key.touch()).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 900 });
    expect(await key.waits(clock, [900])).toEqual([0]);
    expect(await key.touch()).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 100 });
    expect(await key.waits(clock, [100])).toEqual([0]);
    expect(await key.touch()).toMatchObject({ kind: 'rate_limited', limit: 2, retryAfterMs: 900 });
  });

  it("the last use is stamped if the key's rate is exceeded, and the id is not remembered", async ({ clock }) => {
    const key = await keyUnderTest(subject, { requestsPerSecond: 1 });
    await key.touch();
    clock.step(10);
    const requestId = newId();
    expect(await key.admit({ requestId })).toMatchObject({ kind: 'rate_limited', limit: 1 });
    expect((await key.record()).lastUsedAtMs).toBe(clock.nowMs());
    clock.step(990);
    expect(await key.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
  });

  it.each([...FORWARD, ...BACKWARD])("the key's own window: $name", async ({ limit, steps, waits }) => {
    const key = await keyUnderTest(subject, { requestsPerSecond: limit });
    expect(await key.waits(subject.clock, steps)).toEqual(waits);
    expect(ofKey(await key.touch())).toMatchObject({ kind: 'rate_limited', limit });
  });

  it.each([0, 250, 699])('a refusal by the rate of a key, %i ms after its newest slot, holds for as long as it says', async (sinceMs) => {
    const key = await keyUnderTest(subject, { requestsPerSecond: 2 });
    expect(await key.waits(subject.clock, [0, 300])).toEqual([0, 0]);
    subject.clock.step(sinceMs);
    subject.clock.step(await holdsForMs(subject, key));
    expect(ofKey(await key.touch())).toMatchObject({ kind: 'rate_limited', limit: 2 });
  });

  it.each(['key', 'team'])('a refusal by the rate of a %s does not hold beyond the expiry of the key', async (whose) => {
    const { clock } = subject;
    const team = await teamUnderTest(subject.store, { requestsPerSecond: whose === 'team' ? 1 : 1000 });
    const key = await keyUnderTest(subject, { requestsPerSecond: 1, expiresAtMs: clock.nowMs() + 400 }, team);
    await key.touch();
    clock.step(100);
    clock.step(await holdsForMs(subject, key));
    expect((await key.touch()).kind).toBe('rate_limited');
    clock.step(300);
    expect(await key.touch()).toEqual({ kind: 'key_revoked', reason: 'expired' });
  });

  it('a changed rate applies to the slots already taken', async ({ clock }) => {
    const key = await keyUnderTest(subject, { requestsPerSecond: 4 });
    expect(await key.waits(clock, [0, 100, 100, 100])).toEqual([0, 0, 0, 0]);
    clock.step(100);
    await key.change({ limits: { requestsPerSecond: 2 } });
    expect(ofKey(await key.touch())).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 800 });
    await key.change({ limits: { requestsPerSecond: 5 } });
    expect((await key.touch()).kind).toBe('admitted');
    expect(await key.touch()).toMatchObject({ kind: 'rate_limited', limit: 5 });
  });

  it("the key's characters are checked before the team's, including open reservations, and a refusal takes a slot", async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 25, requestsPerSecond: 6 });
    const key = await keyUnderTest(subject, { characters: 20 }, team);
    const { periodEndMs } = await team.usage();
    const [first, second] = [await key.reserve(12), await key.reserve(8)];
    const refused = { kind: 'quota_exceeded', characterLimit: 20, overageCapMinor: 0, periodEndMs };
    expect(ofKey(await key.admit({ characters: 1 }))).toEqual(refused);
    await team.commit(first.requestId);
    expect(ofKey(await key.admit({ characters: 1 }))).toEqual(refused);
    await team.release(second.requestId);
    expect(ofKey(await key.admit({ characters: 9 }))).toEqual(refused);
    expect(await team.admit({ characters: 14 })).toEqual({ ...refused, characterLimit: 25 });
    expect(await team.touch()).toMatchObject({ kind: 'rate_limited', limit: 6 });
    subject.clock.step(1000);
    await key.reserve(8);
    expect(ofKey(await key.admit({ characters: 6 }))).toEqual(refused);
    expect(await team.standing()).toMatchObject({ usedCharacters: 12, heldCharacters: 8 });
  });

  it("the team's quota and credit also apply to a key within its own limit", async () => {
    const quota = await keyUnderTest(subject, { characters: 1000 }, await teamUnderTest(subject.store, { characterLimit: 25 }));
    expect(await quota.admit({ characters: 26 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 25 });
    const prepaid = await teamUnderTest(subject.store, { billing: 'credit', characterLimit: 0, minorPerMillion: 2500 }, 25_000);
    const credit = await keyUnderTest(subject, { characters: 15 }, prepaid);
    await credit.reserve(10);
    expect(await credit.admit({ characters: 6 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 15, overageCapMinor: 0 });
    await credit.change({ limits: { characters: 100 } });
    expect(await credit.admit({ characters: 10 })).toMatchObject({ kind: 'credit_exhausted' });
  });

  it("an overlong text or a missing glossary is reported before the key's characters", async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50 });
    const key = await keyUnderTest(subject, { characters: 5 }, team);
    expect(await key.admit({ characters: 51 })).toMatchObject({ kind: 'text_too_long' });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    expect(await key.admit({ glossary })).toEqual({ kind: 'glossary_missing' });
    expect(await key.admit()).toMatchObject({ kind: 'quota_exceeded', characterLimit: 5 });
    expect((await key.admit({ reserve: false })).kind).toBe('admitted');
  });

  it('existing usage and open reservations count toward a limit set later', async () => {
    const key = await keyUnderTest(subject, {});
    const [committed, open, released] = [await key.reserve(10), await key.reserve(7), await key.reserve(5)];
    await key.team.reserve(1000);
    await key.commit(committed.requestId);
    await key.release(released.requestId);
    await key.change({ limits: { characters: 20 } });
    expect(await key.admit({ characters: 4 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 20 });
    await key.reserve(3);
    await key.release(open.requestId);
    expect(await key.kinds({ characters: 7 }, { characters: 1 })).toEqual(['admitted', 'quota_exceeded']);
    await key.change({ limits: { characters: null } });
    await key.reserve(100);
    await key.change({ limits: { characters: 121 } });
    expect(await key.kinds({ characters: 2 }, { characters: 1 })).toEqual(['quota_exceeded', 'admitted']);
  });

  it("an expired lease frees the key's characters", async ({ clock }) => {
    const key = await keyUnderTest(subject, { characters: 20 });
    await key.team.reserve(1000);
    await key.admit({ characters: 12, leaseMs: 500 });
    const long = await key.reserve(8);
    clock.step(499);
    expect((await key.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    clock.step(1);
    expect(await key.kinds({ characters: 13, leaseMs: 500 }, { characters: 12, leaseMs: 500 })).toEqual(['quota_exceeded', 'admitted']);
    clock.step(500);
    // Through an operation of another key: the lease expires whoever calls.
    await key.team.touch();
    await key.commit(long.requestId);
    expect(await key.kinds({ characters: 13 }, { characters: 12 })).toEqual(['quota_exceeded', 'admitted']);
  });

  it("the key's characters start again with the team's period, and open reservations stay in theirs", async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { period: 'PT1H' });
    const key = await keyUnderTest(subject, { characters: 20 }, team);
    await key.use(15);
    const open = await key.reserve(5, { leaseMs: 2 * HOUR_MS });
    clock.step(HOUR_MS);
    expect(await key.kinds({ characters: 21 }, { characters: 20 })).toEqual(['quota_exceeded', 'admitted']);
    await team.commit(open.requestId);
    expect((await key.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    clock.step(HOUR_MS);
    await key.reserve(20);
    await team.setLimits({ period: 'P1D' });
    expect(await key.kinds({ characters: 20 }, { characters: 1 })).toEqual(['admitted', 'quota_exceeded']);
  });

  it.team('the reported rate is that of the window with fewer free slots', { requestsPerSecond: 4 }, async (team) => {
    const key = await keyUnderTest(subject, { requestsPerSecond: 3 }, team);
    const rateOf = async (admission: Promise<Admission>) => {
      const answer = await admission;
      return 'rate' in answer && answer.rate !== undefined ? answer.rate : { limit: 0, remaining: 0 };
    };
    expect(ofKey(await rateOf(key.admit({ reportRate: true })))).toEqual({ limit: 3, remaining: 2 });
    await team.touch();
    // Equal in both: the team's is reported.
    expect(await rateOf(key.admit({ reportRate: true }))).toEqual({ limit: 4, remaining: 1 });
    expect(await rateOf(team.admit({ reportRate: true }))).toEqual({ limit: 4, remaining: 0 });
    subject.clock.step(1000);
    expect(await rateOf(team.admit({ reportRate: true }))).toEqual({ limit: 4, remaining: 3 });
  });

  it.team('concurrent requests never exceed a window or a limit', { requestsPerSecond: 12, characterLimit: 70 }, async (team) => {
    const [one, other] = [
      await keyUnderTest(subject, { requestsPerSecond: 5 }, team),
      await keyUnderTest(subject, { characters: 30 }, team),
    ];
    const asked = Array.from({ length: 30 }, (_, i) => {
      const { keyId } = i % 2 === 0 ? one : other;
      return team.admit({ keyId, characters: 10 }, i % 3 === 0 ? subject.again : subject.store);
    });
    const answers = await Promise.all(asked);
    const admitted = (key: KeyUnderTest) =>
      answers.filter(({ kind }, i) => kind === 'admitted' && (i % 2 === 0 ? one : other) === key).length;
    expect(admitted(one) <= 5).toBe(true);
    expect(admitted(other) <= 3).toBe(true);
    const placed = answers.filter(({ kind }) => kind !== 'rate_limited').length;
    expect(placed).toBe(12);
    expect((await team.standing()).heldCharacters).toBe(10 * (admitted(one) + admitted(other)));
  });
}
