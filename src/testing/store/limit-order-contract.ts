// Part of the store contract: in which order the limits of a team, a key and a tag are judged and reported, and how long a refusal holds.
import type { AdmissionRequest } from '../../ports/ledger.ts';
import { expect } from '../expect.ts';
import { keyUnderTest, setTag, tagged } from './limited-under-test.ts';
import { play } from './steps.ts';
import { limitsIn, newId, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest, Terms } from './team-under-test.ts';

const GLOSSARY: AdmissionRequest['glossary'] = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };

/** A team, a key of it, and both with a tag, each with limits. */
interface Scene {
  readonly team: TeamUnderTest;
  readonly key: TeamUnderTest;
  readonly teamWithTag: TeamUnderTest;
  readonly keyWithTag: TeamUnderTest;
}

export function limitOrderContract(it: AddStoreCase, subject: Subject): void {
  const { clock } = subject;
  /** Adds a case in which team, key and tag have these limits. */
  const of = (
    title: string,
    limits: readonly [team: string, key: string, tag: string],
    terms: Terms,
    run: (scene: Scene) => Promise<void>,
  ) =>
    it(title, async () => {
      const team = await teamUnderTest(subject.store, terms);
      await team.setOwn(limits[0]);
      const key = await keyUnderTest(subject, limitsIn(limits[1]), team);
      await setTag(subject, team, limitsIn(limits[2]));
      await run({ team, key, teamWithTag: team.with(tagged('acme')), keyWithTag: key.with(tagged('acme')) });
    });
  /** Plays steps whose refusals are by the limit of this one. */
  const plays = (team: TeamUnderTest, steps: string, whose?: 'key' | 'tag') => play(subject, team, steps, { of: whose });

  of(
    'rates are judged of the team, the key, the tag; a request that one refuses takes no slot of the others',
    ['requests=5/second', 'requests=3/second', 'requests=2/second'],
    {},
    async ({ team, key, teamWithTag, keyWithTag }) => {
      const thrice = (refusal: string): string => Array.from({ length: 3 }, () => `touch: rate_limited by ${refusal}`).join(';');
      await plays(teamWithTag, 'touch; wait 100');
      await plays(keyWithTag, `touch; ${thrice('requests=2/second in 900')}`, 'tag');
      await plays(key.with(tagged('other')), 'touch');
      await plays(key, 'touch');
      await plays(keyWithTag, thrice('requests=3/second in 1000'), 'key');
      await plays(team, 'touch');
      await plays(keyWithTag, `${thrice('requests=5/second in 900')}; wait 900`);
      await plays(teamWithTag, 'touch');
      await plays(keyWithTag, 'touch: rate_limited by requests=5/second in 100');
    },
  );

  of(
    'windows are judged of the team, the key, the tag, after the rates and before length and glossary',
    ['requests=3/second requests=4/minute', 'requests=3/day', 'requests=2/hour'],
    { maxCharactersPerRequest: 50 },
    async ({ team, key, keyWithTag }) => {
      await plays(keyWithTag, 'touch; touch; 51: rate_limited by requests=2/hour', 'tag');
      await plays(key, 'touch');
      await plays(keyWithTag, '51: rate_limited by requests=3/second; wait 1000');
      await plays(keyWithTag, '51: rate_limited by requests=3/day', 'key');
      await plays(team, 'touch');
      await plays(keyWithTag, '51: rate_limited by requests=4/minute; wait 60000');
      expect(await team.kinds({ characters: 51 }, { glossary: GLOSSARY })).toEqual(['text_too_long', 'glossary_missing']);
    },
  );

  of(
    'characters are judged of the key, the tag, the team, after length and glossary; a refusal takes its slot',
    ['characters=70/period requests=11/day', 'characters=60/period', 'characters=50/period'],
    { maxCharactersPerRequest: 90 },
    async ({ team, key, teamWithTag, keyWithTag }) => {
      expect(await keyWithTag.kinds({ characters: 91 }, { characters: 80, glossary: GLOSSARY })).toEqual([
        'text_too_long',
        'glossary_missing',
      ]);
      await plays(keyWithTag, '71: quota_exceeded by characters=60/period until 2040-02-15T12:00Z', 'key');
      await plays(teamWithTag, '71: quota_exceeded by characters=50/period until 2040-02-15T12:00Z', 'tag');
      await plays(team, '71: quota_exceeded by characters=70/period until 2040-02-15T12:00Z');
      await plays(keyWithTag, '71 unreserved: admitted; hold one 20');
      await plays(teamWithTag, 'use 20; 11: quota_exceeded by characters=50/period', 'tag');
      // What the team has used is not what the key has.
      await plays(key, 'fits 30; release one');
      expect((await team.usage()).windows).toMatchObject([{ usedRequests: 11 }]);
    },
  );

  it.team(
    'credit is judged after what a key and a tag may use',
    { billing: 'credit', characterLimit: 0, minorPerMillion: 2500, balanceMicro: 25_000 },
    async (team) => {
      const key = await keyUnderTest(subject, { characters: 15 }, team);
      await plays(key, 'hold a 10; 6: quota_exceeded by characters=15/period', 'key');
      await plays(key, 'limits characters=100/period; 10: credit_exhausted');
    },
  );

  it('the rate with the fewest free slots is reported, and all windows: of the team, the key, the tag', async () => {
    clock.set(Date.parse('2030-05-01T10:30:30Z'));
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 4, windows: 'requests=5/minute characters=100/day' });
    const key = await keyUnderTest(subject, { requestsPerSecond: 3, windows: 'requests=9/week' }, team);
    await setTag(subject, team, { requestsPerSecond: 2, windows: 'characters=90/day' });
    const dayMs = Date.parse('2030-05-02T00:00:00Z') - clock.nowMs();
    const weekMs = Date.parse('2030-05-06T00:00:00Z') - clock.nowMs();
    const day = { per: 'day', counts: 'characters', resetMs: dayMs };
    const ofTeam = (requests: number) => [
      { per: 'minute', counts: 'requests', limit: 5, remaining: requests, resetMs: 30_000 },
      { ...day, limit: 100, remaining: 70 },
    ];
    const week = { of: 'key', per: 'week', counts: 'requests', limit: 9, remaining: 8, resetMs: weekMs };
    expect(await key.admit({ reportRate: true, characters: 30, ...tagged('acme') })).toMatchObject({
      rate: { limit: 2, remaining: 1, of: 'tag' },
      windows: [...ofTeam(4), week, { of: 'tag', ...day, limit: 90, remaining: 60 }],
    });
    // Equal in both: the team's is reported.
    expect(await team.admit({ ...TOUCH, reportRate: true })).toMatchObject({ rate: { limit: 4, remaining: 2 }, windows: ofTeam(3) });
    expect(await key.admit({ ...TOUCH, reportRate: true })).toMatchObject({ rate: { limit: 4, remaining: 1 } });
    const bare = await key.admit({ ...TOUCH, reportRate: false });
    expect('windows' in bare && bare.windows !== undefined).toBe(false);
  });

  it.each([1, 1000])('a refusal does not hold beyond the expiry of the key, if the rate of its team is %i', async (requestsPerSecond) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond });
    const key = await keyUnderTest(subject, { requestsPerSecond: 1, expiresAtMs: clock.nowMs() + 400 }, team);
    await plays(key, 'touch; wait 100');
    clock.step(await key.holdsForMs());
    await plays(key, 'touch: rate_limited; wait 300');
    expect(await key.touch()).toEqual({ kind: 'key_revoked', reason: 'expired' });
  });
}
