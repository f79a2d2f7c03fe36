// Part of the store contract: every reservation is settled exactly once, whatever is repeated or arrives late; an id is known while its
// reservation is open.
import { expect } from '../expect.ts';
import type { Verdict } from '../../ports/ledger.ts';
import { LEASE_MS, newId, NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const VERDICTS: readonly Verdict[] = ['commit', 'release'];
const PAIRS = VERDICTS.flatMap((first) => VERDICTS.map((second) => [first, second] as const));
const STATE = { commit: 'committed', release: 'released' } as const;

export function resolutionContract(it: AddStoreCase, subject: Subject): void {
  it.team('a commit charges the characters and one request to the key that the reservation was made with', async (team) => {
    const { requestId } = await team.reserve(10);
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.usage()).toMatchObject({ characters: 10, keys: [{ keyId: team.keyId, characters: 10, requests: 1 }] });
  });

  it.team('a release charges nothing and counts no request', async (team) => {
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
    for (let i = 0; i < 2; i++) expect(await resolve(team, requestId, second)).toEqual({ kind: 'absent' });
    expect(await team.standing()).toEqual(before);
    expect((await team.usage()).keys[0]).toMatchObject(
      first === 'commit' ? { characters: 10, requests: 1 } : { characters: 0, requests: 0 },
    );
  });

  it.each(PAIRS)('an expired lease is absent to a %s and then a %s, and nothing is charged', async (first, second) => {
    const team = await teamUnderTest(subject.store, PREPAID, 1_000_000);
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    for (const verdict of [first, second]) expect(await resolve(team, requestId, verdict)).toEqual({ kind: 'absent' });
    expect(await team.standing()).toEqual({ usedCharacters: 0, balanceMicro: 1_000_000, ...NOTHING_HELD });
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

  it.team('a lease expires automatically: the balances show it from that millisecond on, without a sweep', async (team) => {
    await team.reserve(10, { leaseMs: 500 });
    await team.reserve(20, { leaseMs: 501 });
    subject.clock.step(499);
    expect(await team.standing()).toMatchObject({ heldCharacters: 30, openReservations: 2 });
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 20, openReservations: 1 });
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it.team('a settlement that overtakes its admission is absent, and does not block it', async (team) => {
    for (const verdict of VERDICTS) {
      const requestId = newId();
      expect(await resolve(team, requestId, verdict)).toEqual({ kind: 'absent' });
      expect(await team.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 10 } });
      expect(await resolve(team, requestId, verdict)).toEqual({ kind: STATE[verdict] });
    }
    expect(await team.standing()).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
  });

  it('an id that was admitted without a reservation, or refused, cannot be charged', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    for (const options of [{ reserve: false }, { characters: 51 }, { characters: 41 }, { glossary }, { keyId: newId() }]) {
      const requestId = newId();
      await team.admit({ requestId, ...options });
      for (const verdict of VERDICTS) expect(await resolve(team, requestId, verdict)).toEqual({ kind: 'absent' });
    }
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  it.team('no team can settle another team’s reservation', async (team) => {
    const other = await teamUnderTest(subject.store);
    const { requestId } = await team.reserve(10);
    expect(await other.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
  });

  it.team('a reservation outlives the revocation of its key, and is charged to it', async (team) => {
    const { requestId } = await team.reserve(10);
    await team.revoke();
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect((await team.usage()).keys).toMatchObject([{ status: 'revoked', characters: 10, requests: 1 }]);
  });
}

function resolve(team: TeamUnderTest, requestId: string, verdict: Verdict) {
  return verdict === 'commit' ? team.commit(requestId) : team.release(requestId);
}

/** Every way in which an id stops being open, or never is. */
const ENDS: readonly { end: string; come: (team: TeamUnderTest, requestId: string) => Promise<unknown> }[] = [
  { end: 'a commit', come: async (team, requestId) => team.commit((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release', come: async (team, requestId) => team.release((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release of an unknown id', come: (team, requestId) => team.release(requestId) },
  { end: 'an admission without a reservation', come: (team, requestId) => team.admit({ requestId, reserve: false }) },
  { end: 'a text_too_long', come: (team, requestId) => team.admit({ requestId, characters: 51 }) },
  { end: 'a quota_exceeded', come: (team, requestId) => team.admit({ requestId, characters: 41 }) },
];

export function openIdsContract(it: AddStoreCase, subject: Subject): void {
  const newTeam = () => teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 40 });

  it('repeating an open admission returns the same reservation, unchanged and not extended', async () => {
    const team = await newTeam();
    const reservation = await team.reserve(10);
    subject.clock.step(LEASE_MS - 1);
    const duplicate = await team.admit({ requestId: reservation.requestId, characters: 20, leaseMs: 2 * LEASE_MS });
    expect(duplicate).toEqual({ kind: 'admitted', reservation });
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
    subject.clock.step(1);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it('an id whose lease has expired is new, even if nobody asked about it', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    expect(await team.reserve(20, { requestId })).toMatchObject({ requestId, characters: 20 });
    expect(await team.standing()).toMatchObject({ heldCharacters: 20, openReservations: 1 });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect((await team.usage()).characters).toBe(20);
  });

  it.each(ENDS)('$end leaves an id that is new', async ({ come }) => {
    const team = await newTeam();
    const requestId = newId();
    await come(team, requestId);
    const { characters: before } = await team.usage();
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.admit({ requestId, characters: 1 })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 1 } });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect((await team.usage()).characters).toBe(before + 1);
  });

  it('a long lease keeps its id open to its end', async () => {
    const team = await newTeam();
    const reservation = await team.reserve(10);
    subject.clock.step(LEASE_MS - 1);
    expect(await team.admit({ requestId: reservation.requestId })).toEqual({ kind: 'admitted', reservation });
    expect(await team.commit(reservation.requestId)).toEqual({ kind: 'committed' });
  });
}
