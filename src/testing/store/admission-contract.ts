// Part of the store contract: the order of checks in an admission, and the effects of each result.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { LEASE_MS, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const GLOSSARY = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };

export function admissionContract(it: AddStoreCase, subject: Subject): void {
  it.team('an admission names its reservation: id, team, characters, and the end of the lease by the store clock', async (team) => {
    const requestId = newId();
    expect(await team.admit({ requestId, characters: 42 })).toEqual({
      kind: 'admitted',
      reservation: { requestId, teamId: team.teamId, characters: 42, leaseUntilMs: subject.clock.nowMs() + LEASE_MS },
    });
  });

  it.team('an admission without text, or without `reserve`, reserves nothing', async (team) => {
    expect(await team.touch()).toEqual({ kind: 'admitted', reservation: undefined });
    expect(await team.admit({ characters: 10, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  it.team('an unknown team, an unknown key and the key of another team are key_unknown', async (team) => {
    const other = await teamUnderTest(subject.store);
    const toNobody = { requestId: newId(), teamId: newId(), keyId: team.keyId, characters: 10, reserve: true, leaseMs: LEASE_MS };
    expect(await subject.store.ledger.admit({ ...toNobody, glossary: undefined })).toEqual({ kind: 'key_unknown' });
    expect(await team.admit({ keyId: newId() })).toEqual({ kind: 'key_unknown' });
    expect(await team.admit({ keyId: other.keyId })).toEqual({ kind: 'key_unknown' });
  });

  it.team('an open id is checked before the key, the rate and the text', { requestsPerSecond: 1 }, async (team) => {
    const open = await team.reserve(10);
    await team.revoke();
    for (const options of [{}, { keyId: newId() }, { characters: 10_001 }, { reserve: false }])
      expect(await team.admit({ requestId: open.requestId, ...options })).toEqual({ kind: 'admitted', reservation: open });
  });

  it.team('a revoked key is checked before the rate and the text', { requestsPerSecond: 1 }, async (team) => {
    await team.touch();
    await team.revoke();
    expect(await team.admit({ characters: 10_001 })).toEqual({ kind: 'key_revoked' });
  });

  it.team('the rate is checked before the length of the text', { requestsPerSecond: 1 }, async (team) => {
    await team.touch();
    expect(await team.admit({ characters: 10_001 })).toMatchObject({ kind: 'rate_limited', limit: 1 });
  });

  it('the length is checked exactly, before glossary and quota, and even if nothing is to be reserved', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 0 });
    const tooLong = { kind: 'text_too_long', maxCharacters: 50 };
    expect(await team.admit({ characters: 51 })).toEqual(tooLong);
    expect(await team.admit({ characters: 51, glossary: GLOSSARY })).toEqual(tooLong);
    expect(await team.admit({ characters: 51, reserve: false })).toEqual(tooLong);
    expect(await team.admit({ characters: 50, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
  });

  it('the length is that of all characters; only those to be charged are reserved, and have to fit', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 20 });
    expect(await team.admit({ characters: 51, charged: 0 })).toEqual({ kind: 'text_too_long', maxCharacters: 50 });
    expect(await team.admit({ characters: 50, charged: 21 })).toMatchObject({ kind: 'quota_exceeded' });
    expect(await team.admit({ characters: 50, charged: 21, glossary: GLOSSARY })).toEqual({ kind: 'glossary_missing' });
    const [free, all] = [await team.reserve(50, { charged: 0 }), await team.reserve(5, { charged: 5 })];
    const part = await team.reserve(50, { charged: 15 });
    expect([free, all, part].map(({ characters }) => characters)).toEqual([0, 5, 15]);
    expect(await team.admit({ requestId: part.requestId, characters: 50, charged: 15 })).toEqual({ kind: 'admitted', reservation: part });
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    for (const { requestId } of [free, all, part]) await team.commit(requestId);
    expect(await team.usage()).toMatchObject({ characters: 20, keys: [{ requests: 3 }] });
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it('more can be reserved than the length, for what has no limit per request', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 1000 });
    expect((await team.admit({ characters: 0, charged: 1001 })).kind).toBe('quota_exceeded');
    const { requestId, characters } = await team.reserve(0, { charged: 1000 });
    expect(characters).toBe(1000);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
    await team.commit(requestId);
    expect(await team.usage()).toMatchObject({ characters: 1000, keys: [{ requests: 1 }] });
  });

  it('a missing glossary is checked before the quota, and only if something is to be reserved', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 5 });
    expect(await team.admit({ glossary: GLOSSARY })).toEqual({ kind: 'glossary_missing' });
    expect(await team.admit({ glossary: GLOSSARY, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it('the last use is stamped by every result from rate_limited on', async ({ store, clock }) => {
    const limits = { requestsPerSecond: 1, maxCharactersPerRequest: 50, characterLimit: 40 };
    const team = await teamUnderTest(store, limits);
    const lastUse = async () => answered(await store.teams.listKeys(team.teamId))?.[0]?.lastUsedAtMs;
    expect(await lastUse()).toBeUndefined();
    const steps = [
      { options: {}, kind: 'admitted', waitMs: 0 },
      { options: {}, kind: 'rate_limited', waitMs: 1 },
      { options: { characters: 51 }, kind: 'text_too_long', waitMs: 1000 },
      { options: { glossary: GLOSSARY }, kind: 'glossary_missing', waitMs: 1000 },
      { options: { characters: 41 }, kind: 'quota_exceeded', waitMs: 1000 },
      { options: { reserve: false }, kind: 'admitted', waitMs: 1000 },
    ];
    for (const { options, kind, waitMs } of steps) {
      clock.step(waitMs);
      expect((await team.admit(options)).kind).toBe(kind);
      expect(await lastUse()).toBe(clock.nowMs());
    }
  });

  it('the last use is not stamped by an open id or a revoked key, and only for the key that was used', async ({ store, clock }) => {
    const team = await teamUnderTest(store);
    await team.newKey('spare');
    const { requestId } = await team.reserve(10);
    const usedAtMs = clock.nowMs();
    clock.step(5);
    await team.admit({ requestId });
    await team.release(requestId);
    await team.revoke();
    await team.admit();
    const keys = answered(await store.teams.listKeys(team.teamId));
    expect(keys?.map((key) => key.lastUsedAtMs)).toEqual([usedAtMs, undefined]);
  });
}
