// Part of the store contract: repeated admissions, and how long an id is remembered.
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import { REMEMBER_MS } from '../../domain/reservation.ts';
import type { Subject } from './subject.ts';
import { LEASE_MS, newId, teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

/** Every way to reach a terminal state, and the state reached. */
const ENDS: readonly { end: string; kind: string; come: (team: TeamUnderTest, requestId: string) => Promise<unknown> }[] = [
  { end: 'a commit', kind: 'committed', come: async (team, requestId) => team.commit((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release', kind: 'released', come: async (team, requestId) => team.release((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release of an unknown id', kind: 'released', come: (team, requestId) => team.release(requestId) },
  {
    end: 'an admission without a reservation',
    kind: 'released',
    come: (team, requestId) => team.admit({ requestId, reserve: false }),
  },
  { end: 'a text_too_long', kind: 'released', come: (team, requestId) => team.admit({ requestId, characters: 51 }) },
  { end: 'a quota_exceeded', kind: 'released', come: (team, requestId) => team.admit({ requestId, characters: 41 }) },
];

export function resolvedIdsContract(it: AddCase<Subject>, subject: Subject): void {
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

  it('repeating an admission whose lease has expired is answered repeated, and reserves nothing', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    expect(await team.admit({ requestId })).toEqual({ kind: 'repeated' });
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, openReservations: 0 });
  });

  it.each(ENDS)('$end is remembered as $kind for its time, and from that millisecond on as unknown', async ({ kind, come }) => {
    const team = await newTeam();
    const requestId = newId();
    await come(team, requestId);
    subject.clock.step(REMEMBER_MS - 1);
    expect(await team.admit({ requestId })).toEqual({ kind: 'repeated' });
    expect(await team.commit(requestId)).toEqual({ kind });
    subject.clock.step(1);
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect(await team.admit({ requestId, characters: 1 })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 1 } });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
  });

  it.each(['commit', 'release'] as const)('repeating a %s does not extend the time for which the id is remembered', async (verdict) => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10);
    await team.commit(requestId);
    subject.clock.step(REMEMBER_MS - 1);
    expect(await subject.store.ledger.resolve(team.teamId, requestId, verdict)).toEqual({ kind: 'committed' });
    subject.clock.step(1);
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
  });

  it('an expired lease is remembered from its end on, not from when it was noticed', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500 + REMEMBER_MS - 1);
    expect(await team.commit(requestId)).toEqual({ kind: 'expired' });
    expect(await team.admit({ requestId })).toEqual({ kind: 'repeated' });
    subject.clock.step(1);
    expect(await team.commit(requestId)).toEqual({ kind: 'absent' });
    expect((await team.admit({ requestId })).kind).toBe('admitted');
  });

  it('an expired lease is forgotten even if nobody asked about it', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500 + REMEMBER_MS);
    expect((await team.admit({ requestId })).kind).toBe('admitted');
    expect(await team.standing()).toMatchObject({ heldCharacters: 10, openReservations: 1 });
  });

  it('a lease longer than ids are remembered keeps its id open to its end', async () => {
    const team = await newTeam();
    const reservation = await team.reserve(10);
    subject.clock.step(LEASE_MS - 1);
    expect(await team.admit({ requestId: reservation.requestId })).toEqual({ kind: 'admitted', reservation });
    expect(await team.commit(reservation.requestId)).toEqual({ kind: 'committed' });
  });

  it('a forgotten id that is released again is blocked again', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10);
    await team.commit(requestId);
    subject.clock.step(REMEMBER_MS);
    expect(await team.release(requestId)).toEqual({ kind: 'released' });
    expect(await team.admit({ requestId })).toEqual({ kind: 'repeated' });
    expect((await team.usage()).characters).toBe(10);
  });

  it('refusals for the key and the rate are not remembered', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    const [unknown, revoked] = [newId(), newId()];
    await team.admit({ requestId: unknown, keyId: newId() });
    expect(await team.commit(unknown)).toEqual({ kind: 'absent' });
    expect((await team.admit({ requestId: unknown })).kind).toBe('admitted');
    await team.revoke();
    for (let i = 0; i < 2; i++) expect(await team.admit({ requestId: revoked })).toEqual({ kind: 'key_revoked' });
    expect(await team.commit(revoked)).toEqual({ kind: 'absent' });
  });
}
