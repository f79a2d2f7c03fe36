// Part of the store contract: the order of checks in an admission and before a long body, and the effects of each result.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import { LEASE_MS, newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const GLOSSARY = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };

export function admissionContract(it: AddStoreCase, subject: Subject): void {
  const lastUses = async ({ teamId }: TeamUnderTest) =>
    answered(await subject.store.teams.listKeys(teamId))!.map(({ lastUsedAtMs }) => lastUsedAtMs);

  it.team('an admission names its reservation: id, team, characters, and the end of the lease by the store clock', async (team) => {
    const requestId = newId();
    expect(await team.admit({ requestId, characters: 42 })).toEqual({
      kind: 'admitted',
      reservation: { requestId, teamId: team.teamId, characters: 42, leaseUntilMs: subject.clock.nowMs() + LEASE_MS },
    });
  });

  it.each(['admit', 'check'] as const)(
    '%s: an unknown team, an unknown key and the key of another team are key_unknown, before the rate; a revoked key is, too',
    async (ask) => {
      const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
      const other = await teamUnderTest(subject.store);
      await team.touch();
      for (const unknown of [{ teamId: newId() }, { keyId: newId() }, { keyId: other.keyId }])
        expect(await team[ask](unknown)).toEqual({ kind: 'key_unknown' });
      await team.revoke();
      expect(await team[ask](ask === 'admit' ? { characters: 10_001 } : {})).toEqual({ kind: 'key_revoked' });
    },
  );

  it.team('an open id is checked before the key, the rate and the text', { requestsPerSecond: 1 }, async (team) => {
    const open = await team.reserve(10);
    await team.revoke();
    for (const options of [{}, { keyId: newId() }, { characters: 10_001 }, { reserve: false }])
      expect(await team.admit({ requestId: open.requestId, ...options })).toEqual({ kind: 'admitted', reservation: open });
  });

  it('the length is checked exactly, before glossary and quota, and even if nothing is to be reserved', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 0 });
    for (const options of [{}, { glossary: GLOSSARY }, { reserve: false }, { charged: 0 }])
      expect(await team.admit({ characters: 51, ...options })).toEqual({ kind: 'text_too_long', maxCharacters: 50 });
    expect(await team.admit({ characters: 50, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
  });

  it('the length is that of all characters; those to be charged, which may be more, are reserved, and have to fit', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 120 });
    expect((await team.admit({ characters: 50, charged: 121 })).kind).toBe('quota_exceeded');
    expect(await team.admit({ characters: 50, charged: 121, glossary: GLOSSARY })).toEqual({ kind: 'glossary_missing' });
    await play(subject, team, 'hold free 0 of 50; hold all 5; hold part 15 of 50; hold more 100 of 0; full');
    const repeated = await team.admit({ requestId: team.reserved.get('part')!, characters: 50, charged: 15 });
    expect(repeated).toMatchObject({ kind: 'admitted', reservation: { characters: 15 } });
    await play(subject, team, 'commit free; commit all; commit part; commit more; used 120; held 0; open 0');
    expect((await team.usage()).keys).toMatchObject([{ requests: 4 }]);
  });

  it.team(
    'a missing glossary is checked before the quota, and only if something is to be reserved',
    { characterLimit: 5 },
    async (team) => {
      expect(await team.admit({ glossary: GLOSSARY })).toEqual({ kind: 'glossary_missing' });
      expect(await team.admit({ glossary: GLOSSARY, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined });
      await play(subject, team, 'held 0; open 0');
    },
  );

  it('the last use is stamped by every result from rate_limited on', async ({ store, clock }) => {
    const team = await teamUnderTest(store, { requestsPerSecond: 1, maxCharactersPerRequest: 50, characterLimit: 40 });
    expect(await lastUses(team)).toEqual([undefined]);
    for (const [options, kind, waitMs] of [
      [{}, 'admitted', 0],
      [{}, 'rate_limited', 1],
      [{ characters: 51 }, 'text_too_long', 1000],
      [{ glossary: GLOSSARY }, 'glossary_missing', 1000],
      [{ characters: 41 }, 'quota_exceeded', 1000],
      [{ reserve: false }, 'admitted', 1000],
    ] as const) {
      clock.step(waitMs);
      expect((await team.admit(options)).kind).toBe(kind);
      expect(await lastUses(team)).toEqual([clock.nowMs()]);
    }
  });

  it.team('the last use is not stamped by an open id or a revoked key, and only for the key that was used', async (team, { clock }) => {
    await team.newKey('spare');
    const { requestId } = await team.reserve(10);
    const usedAtMs = clock.nowMs();
    clock.step(5);
    await team.admit({ requestId });
    await team.release(requestId);
    await team.revoke();
    await team.admit();
    expect(await lastUses(team)).toEqual([usedAtMs, undefined]);
  });
}

export function checkContract(it: AddStoreCase, subject: Subject): void {
  it.team(
    'it takes no slot, however often it is called',
    { requestsPerSecond: 2 },
    `check; check; check; touch; check; check; touch; check: rate_limited by requests=2/second in 1000; wait 999;
        check: rate_limited by requests=2/second in 1; wait 1; check; touch; touch`,
  );

  it.team(
    'it frees no slot: after the clock steps back, expired slots count again',
    { requestsPerSecond: 1 },
    'touch; wait 1001; check; back 3600000; touch: rate_limited by requests=1/second in 1000; wait 1000; touch',
  );

  it.team('it reserves nothing, and a known id makes no difference', { requestsPerSecond: 2 }, async (team) => {
    const requestId = newId();
    const good = { kind: 'admitted', reservation: undefined };
    expect(await team.check({ requestId })).toEqual(good);
    await play(subject, team, 'held 0; open 0');
    expect(await team.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 10 } });
    expect(await team.check({ requestId })).toEqual(good);
    await team.commit(requestId);
    expect(await team.check({ requestId })).toEqual(good);
    await team.touch();
    expect(await team.check({ requestId })).toMatchObject({ kind: 'rate_limited', limit: 2 });
  });

  it.team(
    'the last use is stamped, even if the rate is exceeded, but never for a revoked key',
    { requestsPerSecond: 1 },
    async (team, { clock }) => {
      const lastUse = async () => (await team.usage()).keys[0]!.lastUsedAtMs;
      await play(subject, team, 'check');
      expect(await lastUse()).toBe(clock.nowMs());
      await play(subject, team, 'touch; wait 7; check: rate_limited');
      const usedAtMs = clock.nowMs();
      expect(await lastUse()).toBe(usedAtMs);
      await team.revoke();
      await play(subject, team, 'wait 7; check: key_revoked');
      expect(await lastUse()).toBe(usedAtMs);
    },
  );

  it.team('concurrent checks and admissions are processed in order', { requestsPerSecond: 2 }, async (team) => {
    const answers = await Promise.all([team.check(), team.touch(), team.check(), team.touch(), team.check(), team.touch()]);
    expect(answers.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'admitted', 'admitted', 'rate_limited', 'rate_limited']);
  });
}
