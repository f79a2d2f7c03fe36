// Part of the store contract: the name of the team's plan, which an admission reports with `reportPlan`.
import { answered } from '../../domain/store-unavailable.ts';
import type { AddCase } from '../cases.ts';
import { expect } from '../expect.ts';
import type { Subject } from './subject.ts';
import { freshKey, GENEROUS_QUOTA, newId, teamUnderTest } from './team-under-test.ts';

const asked = { reportPlan: true } as const;

export function planReportContract(it: AddCase, subject: Subject): void {
  it('nothing is reported unless requested', async () => {
    const team = await teamUnderTest(subject.store);
    expect(await team.touch()).toEqual({ kind: 'admitted', reservation: undefined });
    expect('plan' in (await team.admit())).toBe(false);
  });

  it('reported with every result: admitted, not reserved, too long, missing glossary, no quota', async () => {
    const team = await teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 40, requestsPerSecond: 9 });
    const glossary = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };
    expect(await team.admit({ ...asked, characters: 51 })).toEqual({ kind: 'text_too_long', maxCharacters: 50, plan: 'test' });
    expect(await team.admit({ ...asked, glossary })).toEqual({ kind: 'glossary_missing', plan: 'test' });
    expect(await team.admit({ ...asked, characters: 41 })).toMatchObject({ kind: 'quota_exceeded', plan: 'test' });
    expect(await team.admit({ ...asked, reserve: false })).toEqual({ kind: 'admitted', reservation: undefined, plan: 'test' });
    const requestId = newId();
    const reservation = { requestId, teamId: team.teamId, characters: 10, leaseUntilMs: subject.clock.nowMs() + 60_000 };
    const expected = { kind: 'admitted', reservation, plan: 'test' };
    expect(await team.admit({ ...asked, requestId })).toEqual(expected);
    // Repeated.
    expect(await team.admit({ ...asked, requestId })).toEqual(expected);
    expect(await team.admit({ ...asked, reportRate: true, reserve: false })).toEqual({
      kind: 'admitted',
      reservation: undefined,
      plan: 'test',
      rate: { limit: 9, remaining: 3 },
    });
  });

  it('reported without credit, too', async () => {
    const limits = { billing: 'credit', characterLimit: 0, minorPerMillion: 2500 } as const;
    const team = await teamUnderTest(subject.store, limits);
    expect(await team.admit(asked)).toMatchObject({ kind: 'credit_exhausted', plan: 'test' });
  });

  it('not reported without a slot: a throttled team, a repeated id, an unknown or revoked key', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 1 });
    const revoked = freshKey(team.teamId);
    answered(await subject.store.teams.createKey(revoked));
    answered(await subject.store.teams.revokeKey(revoked.keyId));
    const { requestId } = await team.reserve(10);
    expect(await team.admit(asked)).toEqual({ kind: 'rate_limited', limit: 1, retryAfterMs: 1000 });
    await team.commit(requestId);
    expect(await team.admit({ ...asked, requestId })).toEqual({ kind: 'repeated' });
    expect(await team.admit({ ...asked, keyId: revoked.keyId })).toEqual({ kind: 'key_revoked' });
    expect(await team.admit({ ...asked, keyId: newId() })).toEqual({ kind: 'key_unknown' });
  });

  it('a new plan is reported from the next request on, by every instance', async () => {
    const team = await teamUnderTest(subject.store);
    expect(await team.admit(asked, subject.again)).toMatchObject({ plan: 'test' });
    answered(await subject.store.teams.updateTeam(team.teamId, { plan: { name: 'größer', limits: GENEROUS_QUOTA } }));
    expect(await team.admit(asked)).toMatchObject({ plan: 'größer' });
    expect(await team.admit(asked, subject.again)).toMatchObject({ plan: 'größer' });
  });

  it('reported to each of several concurrent requests, except those that do not ask', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 100 });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => team.admit(index % 2 === 0 ? asked : {})));
    expect(answers.map((answer) => ('plan' in answer ? answer.plan : undefined))).toEqual(
      Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? 'test' : undefined)),
    );
  });
}
