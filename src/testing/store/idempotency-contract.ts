// Part of the store contract: requests that take effect once, whichever process gets them.
import { REQUEST_REMEMBERED_MS } from '../../domain/reservation.ts';
import type { Claimed, IdempotencyRecords, RequestClaim } from '../../ports/idempotency-records.ts';
import { expect } from '../expect.ts';
import { newId, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const LEASE_MS = 15_000;

export function idempotencyContract(it: AddStoreCase, subject: Subject): void {
  const here = (): IdempotencyRecords => subject.store.idempotency;
  const there = (): IdempotencyRecords => subject.again.idempotency;
  const claimOf = (holder: string, more: Partial<RequestClaim> = {}): RequestClaim => ({
    id: newId(),
    request: 'the request',
    recordId: newId(),
    teamId: undefined,
    holder,
    leaseMs: LEASE_MS,
    ...more,
  });
  const claimed = (recordId: string): Claimed => ({ kind: 'claimed', recordId });

  it('of concurrent claims on two instances one succeeds; the others wait for its answer and get it', async () => {
    const claim = claimOf('a');
    const holders = Array.from({ length: 10 }, (_, i) => ({ ...claim, holder: `${i}`, recordId: newId() }));
    const answers = await Promise.all(holders.map(async (one, i) => (i % 2 === 0 ? here() : there()).claim(one)));
    const first = answers.findIndex((answer) => answer.kind === 'claimed');
    expect(answers.filter(({ kind }) => kind === 'running').length).toBe(9);
    expect(answers[first]).toEqual(claimed(holders[first]!.recordId));
    expect(await there().finish(holders[first]!, '{"status":201}', undefined)).toBeUndefined();
    for (const one of [here(), there()]) expect(await one.claim(claim)).toEqual({ kind: 'answered', answer: '{"status":201}' });
  });

  it('a different request under the same id is rejected, while the first runs, after it, and after it was interrupted', async () => {
    const claim = claimOf('a');
    const other = { ...claim, holder: 'b', request: 'another' };
    expect(await here().claim(claim)).toEqual(claimed(claim.recordId));
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
    expect(await here().release(claim, 'repeat')).toBeUndefined();
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
    await here().claim(claim);
    await here().finish(claim, '{}', undefined);
    expect(await there().claim(other)).toEqual({ kind: 'other_request' });
  });

  it('whoever takes over an interrupted request gets the id of its record; the one who lost it can no longer answer', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    const next = { ...claim, holder: 'b', recordId: newId() };
    subject.clock.step(LEASE_MS - 1);
    expect(await there().claim(next)).toEqual({ kind: 'running' });
    subject.clock.step(1);
    expect(await there().claim(next)).toEqual(claimed(claim.recordId));
    expect(await here().finish(claim, '{"by":"a"}', undefined)).toBeUndefined();
    expect(await here().release(claim, 'forget')).toBeUndefined();
    expect(await there().claim({ ...claim, holder: 'c' })).toEqual({ kind: 'running' });
    expect(await there().finish(next, '{"by":"b"}', undefined)).toBeUndefined();
    expect(await here().claim(claim)).toEqual({ kind: 'answered', answer: '{"by":"b"}' });
  });

  it('a process can claim again what it holds, and whoever gives a request back leaves it to anybody at once', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    expect(await here().claim({ ...claim, recordId: newId() })).toEqual(claimed(claim.recordId));
    await here().release(claim, 'repeat');
    expect(await there().claim({ ...claim, holder: 'b', recordId: newId() })).toEqual(claimed(claim.recordId));
    await there().release({ ...claim, holder: 'b' }, 'forget');
    const fresh = { ...claim, request: 'another', recordId: newId() };
    expect(await here().claim(fresh)).toEqual(claimed(fresh.recordId));
  });

  it('is remembered for a day from the first claim, by the store’s clock', async () => {
    const claim = claimOf('a');
    await here().claim(claim);
    await here().finish(claim, '{}', undefined);
    subject.clock.step(REQUEST_REMEMBERED_MS - 1);
    expect(await there().claim(claim)).toEqual({ kind: 'answered', answer: '{}' });
    subject.clock.step(1);
    const later = { ...claim, request: 'another', recordId: newId() };
    expect(await there().claim(later)).toEqual(claimed(later.recordId));
  });

  it('the deletion of a team forgets what concerns it, and later answers about it are not kept', async () => {
    const team = await teamUnderTest(subject.store);
    const other = await teamUnderTest(subject.store);
    const { teamId } = team;
    const [answered, interrupted, late, foreign] = [
      claimOf('a', { teamId }),
      claimOf('a', { teamId }),
      claimOf('a'),
      claimOf('a', { teamId: other.teamId }),
    ];
    for (const claim of [answered, interrupted, late, foreign]) await here().claim(claim);
    for (const claim of [answered, foreign]) await here().finish(claim, '{}', claim.teamId);
    expect(await subject.store.teams.deleteTeam(teamId, { keepUsage: false })).toBe(true);
    await here().finish(late, '{"name":"the team"}', teamId);
    for (const claim of [answered, interrupted, late]) {
      const again = { ...claim, request: 'another', recordId: newId() };
      expect(await there().claim(again)).toEqual(claimed(again.recordId));
    }
    expect(await there().claim(foreign)).toEqual({ kind: 'answered', answer: '{}' });
  });
}
