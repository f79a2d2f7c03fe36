// Part of the store contract: keys as they are created, found, listed, revoked and reported.
import { expect } from '../expect.ts';
import { digestOf, newKey } from '../../domain/api-key.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { freshKey, idAt, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

export function keysContract(it: AddStoreCase, subject: Subject): void {
  it.team('a created key is active, unused, and has what it was created with, but never its digest', async (team) => {
    const { digest, ...shown } = freshKey(team.teamId, 'nächtlicher Lauf “7”', 'test');
    const record = answered(await subject.store.teams.createKey({ digest, ...shown }));
    expect(record).toEqual({ ...shown, limits: {}, status: 'active', createdAtMs: subject.clock.nowMs(), lastUsedAtMs: undefined });
    expect(JSON.stringify(await subject.store.teams.listKeys(team.teamId))).notToContain(digest);
  });

  it.team('a key is found by its digest, with its team and mode, and works at once, on every instance', async (team, { store, again }) => {
    const key = freshKey(team.teamId, '', 'test');
    for (const one of [store, again]) expect(await one.keys.find(key.digest)).toBeUndefined();
    answered(await store.teams.createKey(key));
    for (const one of [store, again]) {
      expect(await one.keys.find(key.digest)).toEqual({ keyId: key.keyId, teamId: team.teamId, mode: 'test' });
      expect((await team.admit({ keyId: key.keyId }, one)).kind).toBe('admitted');
    }
  });

  it('a key for a team that does not exist is not created', async () => {
    const key = freshKey(newId());
    expect(await subject.store.teams.createKey(key)).toBeUndefined();
    expect(await subject.store.keys.find(key.digest)).toBeUndefined();
  });

  it.team('a revoked key is refused at once and for good, on every instance, and still found', async (team, { store, again, clock }) => {
    const key = await team.newKey();
    expect((await team.admit({ keyId: key.keyId }, again)).kind).toBe('admitted');
    expect(await store.teams.revokeKey(key.keyId)).toMatchObject({ keyId: key.keyId, status: 'revoked' });
    for (const waitMs of [0, 1000, 86_400_000]) {
      clock.step(waitMs);
      for (const one of [again, store]) expect(await team.admit({ keyId: key.keyId }, one)).toEqual({ kind: 'key_revoked' });
    }
    expect(await store.keys.find(key.digest)).toEqual({ keyId: key.keyId, teamId: team.teamId, mode: 'live' });
  });

  it.team('revoking twice gives the same record, and revoking an unknown key none', async (team) => {
    await team.touch();
    const first = await team.revoke();
    subject.clock.step(1);
    expect(await subject.store.teams.revokeKey(team.keyId)).toEqual(first);
    expect(first?.lastUsedAtMs).toBe(subject.clock.nowMs() - 1);
    expect(await subject.store.teams.revokeKey(newId())).toBeUndefined();
  });

  it.team('a key is found with its team, by digest or display, whether used, revoked or never used', async (team, { store }) => {
    const name = 'Übersetzer & “Söhne”';
    answered(await store.teams.updateTeam(team.teamId, { name }));
    const { digest, ...shown } = freshKey(team.teamId, '"display":"la_live_aaaa"', 'test');
    const record = answered(await store.teams.createKey({ digest, ...shown }));
    await team.touch();
    const found = [{ ...record, teamName: name }];
    expect(await store.teams.findKeys({ digest })).toEqual(found);
    expect(await subject.again.teams.findKeys({ display: shown.display })).toEqual(found);
    await team.revoke(shown.keyId);
    const revoked = [{ ...record, status: 'revoked', teamName: name }];
    expect(await subject.again.teams.findKeys({ digest })).toEqual(revoked);
    expect(await store.teams.findKeys({ display: shown.display })).toEqual(revoked);
  });

  it('a display shared by keys of several teams finds all of them, and nothing else', async ({ store }) => {
    const [one, other] = [await teamUnderTest(store), await teamUnderTest(store)];
    const { display } = freshKey(one.teamId);
    const keys = [freshKey(one.teamId, 'a'), freshKey(other.teamId, 'b'), freshKey(one.teamId, 'c')];
    for (const key of keys) answered(await store.teams.createKey({ ...key, display }));
    // A label is not part of the key, whatever it contains.
    answered(await store.teams.createKey({ ...freshKey(other.teamId, `"display":"${display}"`) }));
    const found = answered(await store.teams.findKeys({ display }));
    expect(found.map(({ keyId, teamId }) => `${teamId} ${keyId}`).toSorted()).toEqual(
      keys.map(({ keyId, teamId }) => `${teamId} ${keyId}`).toSorted(),
    );
    expect(await store.teams.findKeys({ digest: keys[1]!.digest })).toMatchObject([{ keyId: keys[1]!.keyId, teamId: other.teamId }]);
    expect(await store.teams.findKeys({ digest: digestOf(newKey('live')) })).toEqual([]);
    for (const none of [display.slice(0, 11), `${display}a`, display.toLowerCase() === display ? 'la_live_' : display.toLowerCase()]) {
      expect(await store.teams.findKeys({ display: none })).toEqual([]);
    }
  });

  it.team('keys are listed in order of creation, regardless of their ids and the clock', async (team, { store, clock }) => {
    const ids = [idAt(9), idAt(8), idAt(7), idAt(10)];
    for (const [i, keyId] of ids.entries()) {
      answered(await store.teams.createKey({ ...freshKey(team.teamId, `key ${i}`), keyId }));
      if (i === 1) clock.step(-5000);
    }
    const expected = [team.keyId, ...ids];
    expect(answered(await store.teams.listKeys(team.teamId))?.map((key) => key.keyId)).toEqual(expected);
    expect((await team.usage()).keys.map((key) => key.keyId)).toEqual(expected);
  });

  it('the keys of an unknown team are undefined; those of a new team are an empty list', async () => {
    const teamId = newId();
    expect(await subject.store.teams.listKeys(teamId)).toBeUndefined();
    const { team } = await (await teamUnderTest(subject.store)).usage();
    answered(await subject.store.teams.createTeam({ ...team, teamId }));
    expect(await subject.store.teams.listKeys(teamId)).toEqual([]);
  });

  it.team('usage lists every key with its characters and requests, including unused and revoked ones', async (team, { store, clock }) => {
    const [busy, revoked, unused] = [freshKey(team.teamId, 'busy'), freshKey(team.teamId, 'old'), freshKey(team.teamId, 'spare', 'test')];
    for (const key of [busy, revoked, unused]) answered(await store.teams.createKey(key));
    for (const { keyId } of [busy, busy, revoked]) await team.use(10, { keyId });
    await team.release((await team.reserve(5, { keyId: busy.keyId })).requestId);
    await team.reserve(7, { keyId: busy.keyId });
    await team.revoke(revoked.keyId);
    const usedAtMs = clock.nowMs();
    const usage = await team.usage();
    expect(usage.characters).toBe(30);
    expect(usage.keys).toMatchObject([
      { keyId: team.keyId, status: 'active', characters: 0, requests: 0 },
      { keyId: busy.keyId, display: busy.display, label: 'busy', mode: 'live', characters: 20, requests: 2, lastUsedAtMs: usedAtMs },
      { keyId: revoked.keyId, label: 'old', status: 'revoked', characters: 10, requests: 1, lastUsedAtMs: usedAtMs },
      { keyId: unused.keyId, label: 'spare', mode: 'test', status: 'active', characters: 0, requests: 0 },
    ]);
    expect(usage.keys[3]?.lastUsedAtMs).toBeUndefined();
  });
}
