// Part of the store contract: every reservation is settled exactly once, whatever is repeated or arrives late.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Verdict } from '../../ports/ledger.ts';
import type { Subject } from './subject.ts';
import { newId, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

const VERDICTS: readonly Verdict[] = ['commit', 'release'];
const PAIRS = VERDICTS.flatMap((first) => VERDICTS.map((second) => [first, second] as const));
const STATE = { commit: 'committed', release: 'released' } as const;

export function resolutionContract(it: AddCase<Subject>, subject: Subject): void {
  it('a commit charges the characters and one request to the key that the reservation was made with', async () => {
    const team = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.usage()).toMatchObject({ characters: 10, keys: [{ keyId: team.keyId, characters: 10, requests: 1 }] });
  });

  it('a release charges nothing and counts no request', async () => {
    const team = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10);
    expect(await team.release(requestId)).toEqual({ kind: 'released' });
    expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 0 }] });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  it.each(PAIRS)('a %s followed by a %s: the first one stands, and the second changes nothing', async (first, second) => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000);
    const { requestId } = await team.reserve(10);
    await team.reserve(20);
    expect(await resolve(team, requestId, first)).toEqual({ kind: STATE[first] });
    const before = await team.standing();
    for (let i = 0; i < 2; i++) expect(await resolve(team, requestId, second)).toEqual({ kind: STATE[first] });
    expect(await team.standing()).toEqual(before);
    expect((await team.usage()).keys[0]).toMatchObject(
      first === 'commit' ? { characters: 10, requests: 1 } : { characters: 0, requests: 0 },
    );
  });

  it.each(PAIRS)('an expired lease answers expired to a %s and then a %s, and charges nothing', async (first, second) => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000);
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    for (const verdict of [first, second]) expect(await resolve(team, requestId, verdict)).toEqual({ kind: 'expired' });
    expect(await team.standing()).toEqual({
      usedCharacters: 0,
      heldCharacters: 0,
      balanceMicro: 1_000_000,
      heldMicro: 0,
      openReservations: 0,
    });
  });

  it.each([
    ['commit', 'committed'],
    ['release', 'released'],
  ] as const)('a %s one millisecond before the end of the lease is in time', async (verdict, kind) => {
    const team = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(499);
    expect(await resolve(team, requestId, verdict)).toEqual({ kind });
  });

  it('a lease expires automatically: the balances show it from that millisecond on, without a sweep', async () => {
    const team = await teamUnderTest(subject.store);
    await team.reserve(10, { leaseMs: 500 });
    await team.reserve(20, { leaseMs: 501 });
    subject.clock.step(499);
    expect(await team.standing()).toMatchObject({ heldCharacters: 30, openReservations: 2 });
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 20, openReservations: 1 });
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it('a commit that overtakes its admission is absent, and does not block it', async () => {
    const team = await teamUnderTest(subject.store);
    const requestId = newId();
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0 });
    expect((await team.admit({ requestId })).kind).toBe('admitted');
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
  });

  it('a release that overtakes its admission blocks it', async () => {
    const team = await teamUnderTest(subject.store);
    const requestId = newId();
    expect(await team.release(requestId)).toEqual({ kind: 'released' });
    expect(await team.admit({ requestId })).toEqual({ kind: 'repeated' });
    expect(await team.commit(requestId)).toEqual({ kind: 'released' });
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  it('an id that was admitted without a reservation, or refused, counts as released and cannot be charged', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    for (const options of [{ reserve: false }, { characters: 51 }, { characters: 41 }, { glossary }]) {
      const requestId = newId();
      await team.admit({ requestId, ...options });
      expect(await team.commit(requestId)).toEqual({ kind: 'released' });
      expect(await team.release(requestId)).toEqual({ kind: 'released' });
    }
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  it('no team can settle another team’s reservation', async () => {
    const team = await teamUnderTest(subject.store);
    const other = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10);
    expect(await other.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
  });

  it('a reservation outlives the revocation of its key, and is charged to it', async () => {
    const team = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10);
    await team.revoke();
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect((await team.usage()).keys).toMatchObject([{ status: 'revoked', characters: 10, requests: 1 }]);
  });
}

function resolve(team: TeamUnderTest, requestId: string, verdict: Verdict) {
  return verdict === 'commit' ? team.commit(requestId) : team.release(requestId);
}
