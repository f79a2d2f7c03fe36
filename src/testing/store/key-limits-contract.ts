// Part of the store contract: what a key with limits is, when it may be used and from where, and that a change takes effect.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import type { CallerCheck } from '../../ports/ledger.ts';
import { keyUnderTest } from './limited-under-test.ts';
import { play } from './steps.ts';
import { freshKey, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const HOUR_MS = 3_600_000;

export function keyLimitsContract(it: AddStoreCase, subject: Subject): void {
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
    const key = await keyUnderTest(subject, { requestsPerSecond: 1, characters: 15 });
    const label = 'a "label", {of} its own\\';
    const changed = { label, limits: { requestsPerSecond: 1, expiresAtMs: 5e12 }, status: 'active' };
    expect(await key.change({ label, limits: { characters: null, expiresAtMs: 5e12 } })).toMatchObject(changed);
    await play(subject, key, '1000: admitted; touch: rate_limited', { kind: 'rate_limited', of: 'key' });
    expect((await key.change({ limits: { requestsPerSecond: null, expiresAtMs: null } })).limits).toEqual({});
    expect((await key.admit()).kind).toBe('admitted');
    expect(await key.record()).toMatchObject({ label, limits: {} });
    expect(answered(await subject.store.teams.updateKey(newId(), { disabled: true }))).toBeUndefined();
  });

  it('a disabled key is refused, and works again when enabled, with its previous usage', async () => {
    const key = await keyUnderTest(subject, { characters: 30 });
    await play(subject, key, 'use 10; hold a 10');
    expect(await key.change({ disabled: true })).toMatchObject({ status: 'disabled', limits: { characters: 30 } });
    const lastUse = (await key.record()).lastUsedAtMs;
    subject.clock.step(7);
    expect(await key.admit()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    expect((await key.record()).lastUsedAtMs).toBe(lastUse);
    expect((await key.team.admit()).kind).toBe('admitted');
    expect((await key.change({ disabled: false })).status).toBe('active');
    await play(subject, key, 'fits 10', { of: 'key' });
  });

  it('a key expires at exactly its time, and works again when extended', async ({ clock }) => {
    const expiresAtMs = clock.nowMs() + 1000;
    const key = await keyUnderTest(subject, { expiresAtMs });
    clock.step(999);
    expect([(await key.admit()).kind, (await key.record()).status]).toEqual(['admitted', 'active']);
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
    const key = await keyUnderTest(subject, limits);
    await key.change({ disabled });
    expect(await key.revoke()).toMatchObject({ status: 'revoked' });
    for (const [change, changed] of [
      [{ disabled: true }, { limits }],
      [{ disabled: false }, { limits }],
      [
        { label: 'gone', limits: { characters: null } },
        { label: 'gone', limits: {} },
      ],
    ] as const) {
      expect(await key.change(change)).toMatchObject({ status: 'revoked', ...changed });
      expect(await key.admit()).toEqual({ kind: 'key_revoked' });
    }
  });

  it('a key restricted to certain addresses requires one, and refusals leave no trace', async () => {
    const key = await keyUnderTest(subject, {
      allowedAddresses: ['192.0.2.0/25', '198.51.100.7/32', '2001:db8:8000::/33'],
      requestsPerSecond: 1,
    });
    const requestId = newId();
    expect(await key.admit({ requestId })).toEqual({ kind: 'address_required' });
    for (const address of ['', 'nowhere', '192.0.2.128', '198.51.100.6', '2001:db8::1', '::192.0.2.1'])
      expect(await key.admit({ requestId, address })).toEqual({ kind: 'address_refused' });
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

  it('a key with scopes is only admitted where one of them opens the route, and refusals leave no trace', async () => {
    const key = await keyUnderTest(subject, { scopes: ['translate:text', 'forward:voices'], requestsPerSecond: 1 });
    expect((await key.record()).limits.scopes).toEqual(['translate:text', 'forward:voices']);
    const requestId = newId();
    expect(await key.admit({ requestId })).toEqual({ kind: 'scope_required' });
    for (const scope of ['', 'translate', 'usage:read', 'forward:voice', 'forward:voices2'])
      expect(await key.admit({ requestId, scope })).toEqual({ kind: 'scope_missing' });
    expect((await key.record()).lastUsedAtMs).toBeUndefined();
    expect(await key.admit({ requestId, scope: 'forward:voices' })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
    await key.change({ limits: { scopes: ['usage:read'], characters: 50 } });
    expect(await key.admit({ scope: 'translate:text' })).toEqual({ kind: 'scope_missing' });
    subject.clock.step(1000);
    expect((await key.admit({ scope: 'usage:read' })).kind).toBe('admitted');
    await key.change({ limits: { characters: null } });
    expect((await key.record()).limits).toEqual({ scopes: ['usage:read'], requestsPerSecond: 1 });
    await key.change({ limits: { scopes: null } });
    subject.clock.step(1000);
    expect((await key.admit()).kind).toBe('admitted');
    await key.change({ limits: { requestsPerSecond: null } });
    expect((await key.record()).limits).toEqual({});
  });

  it.each(['an admission', 'a check before a long body'])(
    '%s judges first whether the key is disabled, then its expiry, address, scope, and the rates of the team and its own',
    async (what) => {
      const { store, clock } = subject;
      const team = await teamUnderTest(store, { requestsPerSecond: 2 });
      const limits = { requestsPerSecond: 1, allowedAddresses: ['10.0.0.0/8'], scopes: ['usage:read' as const] };
      const key = await keyUnderTest(subject, { ...limits, expiresAtMs: clock.nowMs() + 10 }, team);
      const ask = (request: Pick<CallerCheck, 'address' | 'scope'> = {}) =>
        what === 'an admission' ? key.admit(request) : key.check(request);
      const from = { address: '10.1.1.1', scope: 'usage:read' };
      expect(await ask({ ...from, address: '192.0.2.1' })).toEqual({ kind: 'address_refused' });
      expect((await key.record()).lastUsedAtMs).toBeUndefined();
      if (what !== 'an admission') expect(await ask(from)).toEqual({ kind: 'admitted', reservation: undefined });
      expect((await key.admit(from)).kind).toBe('admitted');
      expect(await ask(from)).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 1000, of: 'key' });
      await team.touch();
      expect(await ask(from)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1000 });
      expect(await ask({ ...from, scope: '' })).toEqual({ kind: 'scope_missing' });
      expect(await ask()).toEqual({ kind: 'address_required' });
      clock.step(10);
      expect(await ask()).toEqual({ kind: 'key_revoked', reason: 'expired' });
      await key.change({ disabled: true });
      expect(await ask()).toEqual({ kind: 'key_revoked', reason: 'disabled' });
    },
  );

  it('a summary counts disabled and expired keys as inactive', async ({ store, clock }) => {
    const key = await keyUnderTest(subject, { expiresAtMs: clock.nowMs() + 10 });
    const summary = async () => {
      const found = answered(await store.teams.pageSummaries({ after: undefined, limit: 5, search: key.team.teamId }));
      return found.find(({ team }) => team.teamId === key.team.teamId);
    };
    expect(await summary()).toMatchObject({ activeKeys: 2 });
    clock.step(10);
    expect(await summary()).toMatchObject({ activeKeys: 1, idlestKey: { keyId: key.team.keyId } });
    answered(await store.teams.updateKey(key.team.keyId, { disabled: true }));
    expect(await summary()).toMatchObject({ activeKeys: 0, idlestKey: undefined });
  });
}
