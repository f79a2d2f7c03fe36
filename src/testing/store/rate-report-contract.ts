// Part of the store contract: the limit and the free slots, which an admission reports with `reportRate`.
import { answered } from '../../domain/store-unavailable.ts';
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Admission } from '../../ports/ledger.ts';
import type { Subject } from './subject.ts';
import { freshKey, newId, teamUnderTest } from './team-under-test.ts';
import type { TeamUnderTest } from './team-under-test.ts';

export function rateReportContract(it: AddCase, subject: Subject): void {
  it('nothing is reported unless requested', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 5 });
    expect(await team.touch()).toEqual({ kind: 'admitted', reservation: undefined });
    expect(rateOf(await team.touch())).toBeUndefined();
  });

  it.each([1, 2, 7, 50])('of %i slots each request leaves one less, down to none', async (limit) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: limit });
    for (let left = limit - 1; left >= 0; left--) expect(await reported(team)).toEqual({ limit, remaining: left });
    expect(await team.admit({ reportRate: true })).toEqual({ kind: 'rate_limited', limit, retryAfterMs: 1000 });
  });

  it('slots are freed one by one, each 1,000 ms after it was taken', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4 });
    for (const remaining of [3, 2, 1]) {
      expect(await reported(team)).toEqual({ limit: 4, remaining });
      subject.clock.step(300);
    }
    subject.clock.step(99);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 0 });
    // Exactly 1,000 ms after the first; the second follows 300 ms later.
    subject.clock.step(1);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 0 });
    subject.clock.step(300);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 0 });
    subject.clock.step(1000);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 3 });
  });

  it('reported with every result: too long, missing glossary, no quota, nothing reserved', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 9, maxCharactersPerRequest: 50, characterLimit: 40 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    const asked = { reportRate: true } as const;
    const rate = (remaining: number) => ({ rate: { limit: 9, remaining } });
    expect(await team.admit({ ...asked, characters: 51 })).toMatchObject({ kind: 'text_too_long', maxCharacters: 50, ...rate(8) });
    expect(await team.admit({ ...asked, glossary })).toEqual({ kind: 'glossary_missing', ...rate(7) });
    expect(await team.admit({ ...asked, characters: 41 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 40, ...rate(6) });
    expect(await team.admit({ ...asked, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined, ...rate(5) });
    const requestId = newId();
    const reservation = { requestId, teamId: team.teamId, characters: 10, leaseUntilMs: subject.clock.nowMs() + 60_000 };
    expect(await team.admit({ ...asked, requestId })).toEqual({ kind: 'admitted', reservation, ...rate(4) });
  });

  it('reported without credit, too', async () => {
    const limits = { billing: 'credit', characterLimit: 0, minorPerMillion: 2500, requestsPerSecond: 3 } as const;
    const team = await teamUnderTest(subject.store, limits);
    expect(await team.admit({ reportRate: true })).toMatchObject({ kind: 'credit_exhausted', rate: { limit: 3, remaining: 2 } });
  });

  it('not reported without a slot: a repeated id, an unknown or revoked key', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 5 });
    const revoked = freshKey(team.teamId);
    answered(await subject.store.teams.createKey(revoked));
    answered(await subject.store.teams.revokeKey(revoked.keyId));
    const { requestId } = await team.reserve(10);
    expect(rateOf(await team.admit({ requestId, reportRate: true }))).toBeUndefined();
    await team.commit(requestId);
    expect(await team.admit({ requestId, reportRate: true })).toEqual({ kind: 'repeated' });
    expect(await team.admit({ keyId: revoked.keyId, reportRate: true })).toEqual({ kind: 'key_revoked' });
    expect(await team.admit({ keyId: newId(), reportRate: true })).toEqual({ kind: 'key_unknown' });
    expect(await reported(team)).toEqual({ limit: 5, remaining: 3 });
  });

  it('a changed limit is reported from the next request on', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4 });
    for (const remaining of [3, 2, 1]) expect(await reported(team)).toEqual({ limit: 4, remaining });
    await team.setLimits({ requestsPerSecond: 10 });
    expect(await reported(team)).toEqual({ limit: 10, remaining: 6 });
    await team.setLimits({ requestsPerSecond: 2 });
    subject.clock.step(999);
    expect((await team.admit({ reportRate: true })).kind).toBe('rate_limited');
    subject.clock.step(1);
    expect(await reported(team)).toEqual({ limit: 2, remaining: 1 });
  });

  it('a clock that steps back moves the slots with it', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4 });
    await reported(team);
    subject.clock.step(600);
    await reported(team);
    subject.clock.step(-3_600_000);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 1 });
    subject.clock.step(400);
    expect(await reported(team)).toEqual({ limit: 4, remaining: 1 });
  });

  it('a freed slot is not taken again when the clock steps back', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4 });
    for (const waitMs of [1200, -3_600_000]) {
      await reported(team);
      subject.clock.step(waitMs);
    }
    expect(await reported(team)).toEqual({ limit: 4, remaining: 2 });
  });

  it('the count stays exact over many windows, whatever was cleaned up in between', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 20 });
    for (let window = 0; window < 12; window++) {
      for (let remaining = 19; remaining >= 7; remaining--) expect(await reported(team)).toEqual({ limit: 20, remaining });
      subject.clock.step(1000);
    }
  });

  it('100 concurrent requests over two instances report each number of free slots once', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 60 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => team.admit({ reportRate: true }, index % 2 === 0 ? subject.store : subject.again)),
    );
    const left = answers.map((answer) => rateOf(answer)?.remaining).filter((remaining) => remaining !== undefined);
    expect(left.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, remaining) => remaining));
    expect(answers.filter((answer) => answer.kind === 'rate_limited')).toHaveLength(40);
  });
}

async function reported(team: TeamUnderTest): Promise<unknown> {
  return rateOf(await team.admit({ characters: undefined, reserve: false, reportRate: true }));
}

function rateOf(answer: Admission) {
  return 'rate' in answer ? answer.rate : undefined;
}
