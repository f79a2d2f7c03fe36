// Part of the store contract: limits of single keys, in addition to their team's, checked in the same operation.
import { answered } from '../../domain/store-unavailable.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import type { Admission } from '../../ports/ledger.ts';
import type { KeyChange, KeyRecord, KeyUsage } from '../../ports/team-registry.ts';
import { expect } from '../expect.ts';
import { BACKWARD, FORWARD } from './rate-contract.ts';
import { freshKey, newId, present, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

/** A key with limits, in a team that has another key without. */
interface KeyUnderTest extends TeamUnderTest {
  readonly team: TeamUnderTest;
  readonly change: (change: KeyChange) => Promise<KeyRecord>;
  readonly record: () => Promise<KeyUsage>;
}

/** Removes `of`, which a store need not report, but which must be `key` if present. */
function ofKey<Result extends object>(result: Result): Result {
  const { of, ...rest } = result as Result & { readonly of?: unknown };
  if (of !== undefined) expect(of).toBe('key');
  return rest as Result;
}

export function keyLimitsContract(it: AddStoreCase, subject: Subject): void {
  const changed = async (keyId: string, change: KeyChange): Promise<KeyRecord> =>
    present(answered(await subject.store.teams.updateKey!(keyId, change)));
  const keyUnderTest = async (limits: KeyLimits, of?: TeamUnderTest): Promise<KeyUnderTest> => {
    const team = of ?? (await teamUnderTest(subject.store));
    const { keyId } = present(answered(await subject.store.teams.createKey({ ...freshKey(team.teamId), limits })));
    const record = async () => (await team.usage()).keys.find((one) => one.keyId === keyId)!;
    return { ...team.withKey(keyId), team, change: (change) => changed(keyId, change), record };
  };

  it('a key is created with its limits, and lists, searches and usage show them', async ({ store, clock }) => {
    const limits = {
      expiresAtMs: clock.nowMs() + HOUR_MS,
      requestsPerSecond: 5,
      characters: 1000,
      allowedAddresses: ['10.0.0.0/8', '2001:db8::/32'],
    };
    const team = await teamUnderTest(store);
    const { digest, ...shown } = { ...freshKey(team.teamId), limits };
    const record = { ...shown, status: 'active' as const, createdAtMs: clock.nowMs(), lastUsedAtMs: undefined };
    expect(answered(await store.teams.createKey({ digest, ...shown }))).toEqual(record);
    expect(answered(await store.teams.listKeys(team.teamId))?.[1]).toEqual(record);
    expect((await team.usage()).keys[1]).toMatchObject(record);
    expect(await store.teams.findKeys({ digest })).toMatchObject([record]);
    expect((await team.usage()).keys[0]).toMatchObject({ status: 'active', limits: {} });
  });

  it('a change keeps absent members, removes limits that are null, and applies from the next admission on', async () => {
    const key = await keyUnderTest({ requestsPerSecond: 1, characters: 15 });
    expect(await key.change({ label: 'a "label", {of} its own\\', limits: { characters: null, expiresAtMs: 5e12 } })).toMatchObject({
      label: 'a "label", {of} its own\\',
      limits: { requestsPerSecond: 1, expiresAtMs: 5e12 },
      status: 'active',
    });
    expect((await key.admit({ characters: 1000 })).kind).toBe('admitted');
    expect(await key.admit()).toMatchObject({ kind: 'rate_limited', limit: 1 });
    expect((await key.change({ limits: { requestsPerSecond: null, expiresAtMs: null } })).limits).toEqual({});
    expect((await key.admit()).kind).toBe('admitted');
    expect(await key.record()).toMatchObject({ label: 'a "label", {of} its own\\', limits: {} });
    expect(answered(await subject.store.teams.updateKey!(newId(), { disabled: true }))).toBeUndefined();
  });

  it('a disabled key is refused, and works again when enabled, with its previous usage', async () => {
    const key = await keyUnderTest({ characters: 30 });
    await key.use(10);
    await key.admit();
    expect(await key.change({ disabled: true })).toMatchObject({ status: 'disabled', limits: { characters: 30 } });
    const lastUse = (await key.record()).lastUsedAtMs;
    subject.clock.step(7);
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    expect((await key.record()).lastUsedAtMs).toBe(lastUse);
    expect((await key.team.admit()).kind).toBe('admitted');
    expect((await key.change({ disabled: false })).status).toBe('active');
    expect(await key.admit({ characters: 11 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 30 });
    await key.reserve(10);
  });

  it.team('a key without limits can be disabled, and has none when it is enabled', async (team) => {
    expect(await changed(team.keyId, { disabled: true })).toMatchObject({ status: 'disabled', limits: {} });
    expect(await team.admit()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    expect(await changed(team.keyId, { disabled: false })).toMatchObject({ status: 'active', limits: {} });
    expect((await team.admit()).kind).toBe('admitted');
  });

  it('a key expires at exactly its time, and works again when extended', async ({ clock }) => {
    const expiresAtMs = clock.nowMs() + 1000;
    const key = await keyUnderTest({ expiresAtMs });
    clock.step(999);
    expect((await key.admit()).kind).toBe('admitted');
    expect((await key.record()).status).toBe('active');
    clock.step(1);
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'expired' });
    expect((await key.record()).status).toBe('expired');
    expect(await key.change({ disabled: true })).toMatchObject({ status: 'disabled' });
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    expect(await key.change({ disabled: false, limits: { expiresAtMs: expiresAtMs + HOUR_MS } })).toMatchObject({ status: 'active' });
    expect((await key.admit()).kind).toBe('admitted');
  });

  it.each([
    { what: 'with limits', limits: { characters: 5 }, disabled: false },
    { what: 'that is disabled', limits: {}, disabled: true },
  ])('a key $what can be revoked, and stays revoked, whatever else is changed', async ({ limits, disabled }) => {
    const key = await keyUnderTest(limits);
    await key.change({ disabled });
    expect(await key.revoke()).toMatchObject({ status: 'revoked' });
    for (const change of [{ disabled: true }, { disabled: false }]) {
      expect(await key.change(change)).toMatchObject({ status: 'revoked', limits });
      expect(await key.admit()).toEqual({ kind: 'key_revoked' });
    }
    const freed = { status: 'revoked', label: 'gone', limits: {} };
    expect(await key.change({ label: 'gone', limits: { characters: null } })).toMatchObject(freed);
    expect(await key.admit()).toEqual({ kind: 'key_revoked' });
  });

  it('a key restricted to certain addresses requires one, and refusals leave no trace', async () => {
    const key = await keyUnderTest({ allowedAddresses: ['192.0.2.0/25', '198.51.100.7/32', '2001:db8:8000::/33'], requestsPerSecond: 1 });
    const requestId = newId();
    for (const [address, kind] of [
      [undefined, 'address_wanted'],
      ['', 'address_refused'],
      ['nowhere', 'address_refused'],
      ['192.0.2.128', 'address_refused'],
      ['198.51.100.6', 'address_refused'],
      ['2001:db8::1', 'address_refused'],
      ['::192.0.2.1', 'address_refused'],
    ] as const) {
      expect(await key.admit({ requestId, ...(address === undefined ? {} : { address }) })).toEqual({ kind });
    }
    expect((await key.record()).lastUsedAtMs).toBeUndefined();
    expect(await key.admit({ requestId, address: '192.0.2.127' })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
    for (const address of ['::ffff:192.0.2.5', '198.51.100.7', '2001:db8:8000::1']) {
      subject.clock.step(1000);
      expect((await key.admit({ address })).kind).toBe('admitted');
    }
    await key.change({ limits: { allowedAddresses: ['::/0', '0.0.0.0/0'] } });
    subject.clock.step(1000);
    expect((await key.admit({ address: '203.0.113.1' })).kind).toBe('admitted');
    expect(await key.admit({ address: '' })).toEqual({ kind: 'address_refused' });
    await key.change({ limits: { allowedAddresses: null, requestsPerSecond: null } });
    expect((await key.admit()).kind).toBe('admitted');
  });

  it('an address makes no difference for a key without ranges', async () => {
    const key = await keyUnderTest({ requestsPerSecond: 5 });
    await key.reserve(1, { address: '203.0.113.1' });
    await key.team.reserve(1, { address: '' });
  });

  it('disabled is checked before expired, expired before the address, the address before any rate', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 2 });
    const key = await keyUnderTest({ requestsPerSecond: 1, allowedAddresses: ['10.0.0.1/32'], expiresAtMs: clock.nowMs() + 10 }, team);
    const address = '10.0.0.1';
    await key.admit({ address });
    expect(await key.admit({ address })).toMatchObject({ kind: 'rate_limited', limit: 1 });
    await team.touch();
    expect(await key.admit({ address })).toMatchObject({ kind: 'rate_limited', limit: 2 });
    expect(await key.admit()).toEqual({ kind: 'address_wanted' });
    clock.step(10);
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'expired' });
    await key.change({ disabled: true });
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
  });

  it("a request refused by the key's rate takes no slot in the team's window, and vice versa", async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 3 });
    const key = await keyUnderTest({ requestsPerSecond: 2 }, team);
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
    const key = await keyUnderTest({ requestsPerSecond: 1 });
    await key.touch();
    clock.step(10);
    const requestId = newId();
    expect(await key.admit({ requestId })).toMatchObject({ kind: 'rate_limited', limit: 1 });
    expect((await key.record()).lastUsedAtMs).toBe(clock.nowMs());
    clock.step(990);
    expect(await key.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
  });

  it.each([...FORWARD, ...BACKWARD])("the key's own window: $name", async ({ limit, steps, waits }) => {
    const key = await keyUnderTest({ requestsPerSecond: limit });
    expect(await key.waits(subject.clock, steps)).toEqual(waits);
    expect(ofKey(await key.touch())).toMatchObject({ kind: 'rate_limited', limit });
  });

  it('a changed rate applies to the slots already taken', async ({ clock }) => {
    const key = await keyUnderTest({ requestsPerSecond: 4 });
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
    const key = await keyUnderTest({ characters: 20 }, team);
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
    const quota = await keyUnderTest({ characters: 1000 }, await teamUnderTest(subject.store, { characterLimit: 25 }));
    expect(await quota.admit({ characters: 26 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 25 });
    const prepaid = await teamUnderTest(subject.store, { billing: 'credit', characterLimit: 0, minorPerMillion: 2500 }, 25_000);
    const credit = await keyUnderTest({ characters: 15 }, prepaid);
    await credit.reserve(10);
    expect(await credit.admit({ characters: 6 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 15, overageCapMinor: 0 });
    await credit.change({ limits: { characters: 100 } });
    expect(await credit.admit({ characters: 10 })).toMatchObject({ kind: 'credit_exhausted' });
  });

  it("an overlong text or a missing glossary is reported before the key's characters", async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50 });
    const key = await keyUnderTest({ characters: 5 }, team);
    expect(await key.admit({ characters: 51 })).toMatchObject({ kind: 'text_too_long' });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    expect(await key.admit({ glossary })).toEqual({ kind: 'glossary_missing' });
    expect(await key.admit()).toMatchObject({ kind: 'quota_exceeded', characterLimit: 5 });
    expect((await key.admit({ reserve: false })).kind).toBe('admitted');
  });

  it('existing usage and open reservations count toward a limit set later', async () => {
    const key = await keyUnderTest({});
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
    const key = await keyUnderTest({ characters: 20 });
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
    const key = await keyUnderTest({ characters: 20 }, team);
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
    const key = await keyUnderTest({ requestsPerSecond: 3 }, team);
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

  it('before a long body, key, address and both rates are checked, without taking a slot', async ({ store, clock }) => {
    if (store.ledger.check === undefined) return;
    const team = await teamUnderTest(store, { requestsPerSecond: 3 });
    const key = await keyUnderTest({ requestsPerSecond: 1, allowedAddresses: ['10.0.0.0/8'] }, team);
    const check = async (address?: string) =>
      store.ledger.check!({ requestId: newId(), teamId: team.teamId, keyId: key.keyId, ...(address === undefined ? {} : { address }) });
    expect(await check()).toEqual({ kind: 'address_wanted' });
    expect(await check('192.0.2.1')).toEqual({ kind: 'address_refused' });
    expect((await key.record()).lastUsedAtMs).toBeUndefined();
    for (let i = 0; i < 3; i++) expect(await check('10.1.1.1')).toEqual({ kind: 'admitted', reservation: undefined });
    expect((await key.record()).lastUsedAtMs).toBe(clock.nowMs());
    await key.admit({ address: '10.1.1.1' });
    expect(ofKey(await check('10.1.1.1'))).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 1000 });
    await team.touch();
    await team.touch();
    expect(await check('10.1.1.1')).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 1000 });
    await key.change({ disabled: true });
    expect(await check('10.1.1.1')).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    clock.step(1000);
    await key.change({ disabled: false, limits: { expiresAtMs: clock.nowMs() - 1 } });
    expect(await check('10.1.1.1')).toEqual({ kind: 'key_revoked', reason: 'expired' });
  });

  it('a summary counts disabled and expired keys as inactive', async ({ store, clock }) => {
    const key = await keyUnderTest({ expiresAtMs: clock.nowMs() + 10 });
    const summary = async () => {
      const found = answered(await store.teams.pageSummaries({ after: undefined, limit: 5, search: key.team.teamId }));
      return found.find(({ team }) => team.teamId === key.team.teamId);
    };
    expect(await summary()).toMatchObject({ activeKeys: 2 });
    clock.step(10);
    expect(await summary()).toMatchObject({ activeKeys: 1, idlestKey: { keyId: key.team.keyId } });
    await changed(key.team.keyId, { disabled: true });
    expect(await summary()).toMatchObject({ activeKeys: 0, idlestKey: undefined });
  });

  it.team('concurrent requests never exceed a window or a limit', { requestsPerSecond: 12, characterLimit: 70 }, async (team) => {
    const [one, other] = [await keyUnderTest({ requestsPerSecond: 5 }, team), await keyUnderTest({ characters: 30 }, team)];
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
