// Part of the store contract: in which order the limits of a team, a key and a tag are judged and reported, and when they begin to hold.
import type { AdmissionRequest } from '../../ports/ledger.ts';
import { expect } from '../expect.ts';
import { keyUnderTest } from './key-under-test.ts';
import { setTag, tagged } from './limited-under-test.ts';
import type { OwnLimits } from './limited-under-test.ts';
import { newId, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest, Terms } from './team-under-test.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const GLOSSARY: AdmissionRequest['glossary'] = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };

/** The members of a team, a key in it and a tag, each with limits. */
interface Three {
  readonly team: TeamUnderTest;
  readonly key: TeamUnderTest;
  readonly tag: AdmissionChoices;
}

export function limitOrderContract(it: AddStoreCase, subject: Subject): void {
  const three = async (team: Terms, key: OwnLimits, tag: OwnLimits): Promise<Three> => {
    const of = await teamUnderTest(subject.store, team);
    await setTag(subject, of, tag);
    return { team: of, key: await keyUnderTest(subject, key, of), tag: tagged('acme') };
  };

  it('rates are judged of the team, the key, the tag; a request that one refuses takes no slot of the others', async ({ clock }) => {
    const { team, key, tag } = await three({ requestsPerSecond: 5 }, { requestsPerSecond: 3 }, { requestsPerSecond: 2 });
    const touch = { ...TOUCH, ...tag };
    expect(await team.kinds(touch)).toEqual(['admitted']);
    clock.step(100);
    expect(await key.kinds(touch)).toEqual(['admitted']);
    for (let i = 0; i < 3; i++) expect(await key.admit(touch)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 900, of: 'tag' });
    expect(await key.kinds({ ...TOUCH, ...tagged('other') }, TOUCH)).toEqual(['admitted', 'admitted']);
    for (let i = 0; i < 3; i++) expect(await key.admit(touch)).toEqual({ kind: 'rate_limited', limit: 3, retryAfterMs: 1000, of: 'key' });
    expect((await team.touch()).kind).toBe('admitted');
    for (let i = 0; i < 3; i++) expect(await key.admit(touch)).toEqual({ kind: 'rate_limited', limit: 5, retryAfterMs: 900 });
    clock.step(900);
    expect(await team.kinds(touch)).toEqual(['admitted']);
    expect(await key.admit(touch)).toMatchObject({ kind: 'rate_limited', limit: 5, retryAfterMs: 100 });
  });

  it('windows are judged of the team, the key, the tag, after the rates and before length and glossary', async ({ clock }) => {
    const { team, key, tag } = await three(
      { requestsPerSecond: 3, windows: 'requests=4/minute', maxCharactersPerRequest: 50 },
      { windows: 'requests=3/day' },
      { windows: 'requests=2/hour' },
    );
    const long = { ...tag, characters: 51 };
    expect(await key.kinds({ ...TOUCH, ...tag }, { ...TOUCH, ...tag })).toEqual(['admitted', 'admitted']);
    expect(await key.admit(long)).toMatchObject({ kind: 'rate_limited', limit: 2, of: 'tag', window: { per: 'hour' } });
    expect((await key.touch()).kind).toBe('admitted');
    expect('window' in (await key.admit(long))).toBe(false);
    clock.step(1000);
    expect(await key.admit(long)).toMatchObject({ kind: 'rate_limited', limit: 3, of: 'key', window: { per: 'day' } });
    expect((await team.touch()).kind).toBe('admitted');
    const ofTeam = await key.admit(long);
    expect(ofTeam).toMatchObject({ kind: 'rate_limited', limit: 4, window: { per: 'minute', counts: 'requests' } });
    expect('of' in ofTeam).toBe(false);
    clock.step(MINUTE_MS);
    expect(await team.kinds({ characters: 51 }, { glossary: GLOSSARY })).toEqual(['text_too_long', 'glossary_missing']);
  });

  it('characters are judged of the key, the tag, the team, after length and glossary; a refusal takes its slot', async () => {
    const { team, key, tag } = await three(
      { characterLimit: 70, maxCharactersPerRequest: 90, windows: 'requests=9/day' },
      { characters: 60 },
      { characters: 50 },
    );
    const refused = { kind: 'quota_exceeded', overageCapMinor: 0, periodEndMs: (await team.usage()).periodEndMs };
    expect(await key.kinds({ ...tag, characters: 91 }, { ...tag, characters: 80, glossary: GLOSSARY })).toEqual([
      'text_too_long',
      'glossary_missing',
    ]);
    expect(await key.admit({ ...tag, characters: 71 })).toEqual({ ...refused, characterLimit: 60, of: 'key' });
    expect(await team.admit({ ...tag, characters: 71 })).toEqual({ ...refused, characterLimit: 50, of: 'tag' });
    expect(await team.admit({ characters: 71 })).toEqual({ ...refused, characterLimit: 70 });
    expect((await key.admit({ ...tag, characters: 71, reserve: false })).kind).toBe('admitted');
    const one = await key.reserve(20, tag);
    await team.use(20, tag);
    expect(await team.admit({ ...tag, characters: 11 })).toMatchObject({ characterLimit: 50, of: 'tag' });
    await team.release(one.requestId);
    expect((await team.usage()).windows).toMatchObject([{ usedRequests: 9 }]);
  });

  it('credit is judged after what a key and a tag may use', async () => {
    const prepaid = await teamUnderTest(subject.store, { billing: 'credit', characterLimit: 0, minorPerMillion: 2500 }, 25_000);
    const key = await keyUnderTest(subject, { characters: 15 }, prepaid);
    await key.reserve(10);
    expect(await key.admit({ characters: 6 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 15, of: 'key' });
    await key.change({ limits: { characters: 100 } });
    expect(await key.admit({ characters: 10 })).toMatchObject({ kind: 'credit_exhausted' });
  });

  it('the rate with the fewest free slots is reported, and all windows: of the team, the key, the tag', async ({ clock }) => {
    clock.set(Date.parse('2030-05-01T10:30:30Z'));
    const { team, key, tag } = await three(
      { requestsPerSecond: 4, windows: 'requests=5/minute characters=100/day' },
      { requestsPerSecond: 3, windows: 'requests=9/week' },
      { requestsPerSecond: 2, windows: 'characters=90/day' },
    );
    const dayMs = Date.parse('2030-05-02T00:00:00Z') - clock.nowMs();
    const weekMs = Date.parse('2030-05-06T00:00:00Z') - clock.nowMs();
    const day = { per: 'day', counts: 'characters', resetMs: dayMs };
    const ofTeam = (requests: number) => [
      { per: 'minute', counts: 'requests', limit: 5, remaining: requests, resetMs: 30_000 },
      { ...day, limit: 100, remaining: 70 },
    ];
    const week = { of: 'key', per: 'week', counts: 'requests', limit: 9, remaining: 8, resetMs: weekMs };
    expect(await key.admit({ reportRate: true, characters: 30, ...tag })).toMatchObject({
      rate: { limit: 2, remaining: 1, of: 'tag' },
      windows: [...ofTeam(4), week, { of: 'tag', ...day, limit: 90, remaining: 60 }],
    });
    // Equal in both: the team's is reported.
    expect(await team.admit({ ...TOUCH, reportRate: true })).toMatchObject({ rate: { limit: 4, remaining: 2 }, windows: ofTeam(3) });
    expect(await key.admit({ ...TOUCH, reportRate: true })).toMatchObject({ rate: { limit: 4, remaining: 1 } });
    const bare = await key.admit({ ...TOUCH, reportRate: false });
    expect('windows' in bare && bare.windows !== undefined).toBe(false);
  });

  it.each(['key', 'team'])('a refusal by the rate of a %s does not hold beyond the expiry of the key', async (whose) => {
    const { clock } = subject;
    const team = await teamUnderTest(subject.store, { requestsPerSecond: whose === 'team' ? 1 : 1000 });
    const key = await keyUnderTest(subject, { requestsPerSecond: 1, expiresAtMs: clock.nowMs() + 400 }, team);
    await key.touch();
    clock.step(100);
    clock.step(await key.holdsForMs());
    expect((await key.touch()).kind).toBe('rate_limited');
    clock.step(300);
    expect(await key.touch()).toEqual({ kind: 'key_revoked', reason: 'expired' });
  });

  it('what was charged or is held before a key has a limit counts', async () => {
    const key = await keyUnderTest(subject, {});
    const [committed, open, released] = [await key.reserve(10), await key.reserve(7), await key.reserve(5)];
    await key.team.reserve(1000);
    await key.commit(committed.requestId);
    await key.release(released.requestId);
    await key.change({ limits: { characters: 20 } });
    expect(await key.admit({ characters: 4 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 20 });
    await key.reserve(3);
    await key.release(open.requestId);
    expect(await key.kinds({ characters: 7 }, { characters: 1 })).toEqual(['admitted', 'quota_exceeded']);
  });

  it('a plan that waits for the end of the period brings its windows with it', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { period: 'PT1H', windows: 'requests=9/day' });
    const { limits } = (await team.usage()).team;
    const nextPlan = { name: 'next', limits: { ...limits, windows: 'requests=3/day' } };
    await subject.store.teams.updateTeam(team.teamId, { nextPlan });
    expect(await team.kinds(TOUCH, TOUCH, TOUCH)).toEqual(['admitted', 'admitted', 'admitted']);
    clock.step(HOUR_MS);
    expect(await team.touch()).toMatchObject({ kind: 'rate_limited', limit: 3, window: { per: 'day' } });
  });

  it('a day later nothing of a window of a day is left', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { windows: 'characters=10/day' });
    await team.use(10);
    clock.step(DAY_MS);
    expect((await team.admit({ characters: 10 })).kind).toBe('admitted');
  });
}
