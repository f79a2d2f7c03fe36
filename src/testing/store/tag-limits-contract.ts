// Part of the store contract: settings of tags as operators change them; what their limits do is in `limits-contract.ts`.
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import { expect } from '../expect.ts';
import { setTag, tagged, TAGS_MAX } from './limited-under-test.ts';
import { play } from './steps.ts';
import { newId, present, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const TAG = tagged('acme');
const OF_TAG = { of: 'tag' };

export function tagLimitsContract(it: AddStoreCase, subject: Subject): void {
  const set = (team: TeamUnderTest, settings: Parameters<typeof setTag>[2], tag?: string, most?: number): Promise<string> =>
    setTag(subject, team, settings, tag, most);
  const found = async ({ teamId }: TeamUnderTest): Promise<SetTag> =>
    present(answered(await subject.again.tagSettings.find(teamId, 'acme')));

  it.team('settings are replaced, listed by tag, and removed; a team that is not there has none', async (team) => {
    const { tagSettings, teams } = subject.store;
    const limits = { requestsPerSecond: 5, characters: 100, windows: 'requests=3/hour characters=40/day', disabled: true };
    expect(await set(team, limits, 'z!~"#')).toBe('set');
    expect(await set(team, { characters: 9 }, 'acme')).toBe('set');
    expect(answered(await subject.again.tagSettings.list(team.teamId))).toMatchObject([
      { tag: 'acme', settings: { characters: 9, disabled: false }, use: { characters: 0, windows: [] } },
      { tag: 'z!~"#', settings: limits, use: { characters: 0, windows: [{ per: 'hour', requests: 3, usedRequests: 0 }, { per: 'day' }] } },
    ]);
    expect(await set(team, { requestsPerSecond: 1 }, 'acme')).toBe('set');
    expect((await found(team)).settings).toEqual({ requestsPerSecond: 1, disabled: false });
    for (const removed of [true, false]) expect(answered(await tagSettings.remove(team.teamId, 'acme'))).toBe(removed);
    expect(answered(await tagSettings.find(team.teamId, 'acme'))).toBeUndefined();
    expect(answered(await tagSettings.list(team.teamId))).toHaveLength(1);
    answered(await teams.deleteTeam(team.teamId, { keepUsage: true }));
    for (const none of [newId(), team.teamId]) {
      expect(answered(await tagSettings.set(none, 'acme', { disabled: true }, TAGS_MAX))).toEqual({ kind: 'team_unknown' });
      expect(answered(await subject.again.tagSettings.list(none))).toBeUndefined();
      expect(answered(await tagSettings.find(none, 'z!~"#'))).toBeUndefined();
      expect(answered(await tagSettings.remove(none, 'z!~"#'))).toBe(false);
    }
  });

  it.team('no more tags of a team have settings than may', async (team) => {
    for (const tag of ['a', 'b']) expect(await set(team, {}, tag, 2)).toBe('set');
    expect(await set(team, {}, 'c', 2)).toBe('limit_reached');
    expect(await set(team, { characters: 1 }, 'b', 2)).toBe('set');
    expect(answered(await subject.store.tagSettings.remove(team.teamId, 'a'))).toBe(true);
    expect(await set(team, {}, 'c', 2)).toBe('set');
    expect(await set(team, {}, 'a', 2)).toBe('limit_reached');
  });

  it.team(
    'a disabled tag is refused after the state of the key and before the rate, and counts for nothing',
    { requestsPerSecond: 2 },
    async (team) => {
      await set(team, { disabled: true });
      const requestId = newId();
      for (let i = 0; i < 5; i++) expect(await team.admit({ ...TAG, requestId })).toEqual({ kind: 'tag_disabled' });
      expect((await team.usage()).keys[0]?.lastUsedAtMs).toBeUndefined();
      const kinds = await team.kinds(TOUCH, { ...TOUCH, ...tagged('other') }, { ...TOUCH, ...TAG }, TOUCH);
      expect(kinds).toEqual(['admitted', 'admitted', 'tag_disabled', 'rate_limited']);
      subject.clock.step(1000);
      await set(team, {});
      expect(await team.admit({ ...TAG, requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
      await set(team, { disabled: true });
      await team.revoke();
      expect(await team.admit(TAG)).toEqual({ kind: 'key_revoked' });
    },
  );

  it.team('what was charged in the period before a tag had settings counts; what was reserved before does not', async (team) => {
    const acme = team.with(TAG);
    await play(subject, acme, 'use 30; hold open 5');
    await set(team, { characters: 50, windows: 'characters=50/day' });
    expect(await found(team)).toMatchObject({ use: { characters: 30, windows: [{ usedCharacters: 0 }] } });
    await play(subject, acme, 'commit open; 21: quota_exceeded by characters=50/period; use 20', OF_TAG);
    expect((await found(team)).use.characters).toBe(50);
  });

  it.team('what a lease that has ended held of a tag is not shown as used', async (team) => {
    await set(team, { characters: 50 });
    await play(subject, team.with(TAG), 'hold lost 7 for 500; wait 500');
    expect((await found(team)).use.characters).toBe(0);
  });

  it.team('a tag that gets settings again has none of what its requests held before', async (team) => {
    const acme = team.with(TAG);
    await set(team, { characters: 100 });
    await play(subject, acme, 'touch; touch; touch; hold before 60');
    expect(answered(await subject.store.tagSettings.remove(team.teamId, 'acme'))).toBe(true);
    await play(subject, acme, '90: admitted');
    await set(team, { characters: 100 });
    expect((await found(team)).use.characters).toBe(0);
    await play(subject, acme, 'hold a 70; release before; fits 30', OF_TAG);
  });

  it.team('a tag that is counted with others has limits of its own', async (team) => {
    for (const name of ['a', 'b']) await team.use(1, tagged(name, 1));
    await set(team, { characters: 10 }, 'b');
    await play(subject, team.with(tagged('b', 1)), 'use 10; full', OF_TAG);
    await team.use(10, tagged('c', 1));
    await set(team, { requestsPerSecond: 1 }, FURTHER_TAGS);
    const kinds = await team.kinds(...['c', 'd', FURTHER_TAGS, FURTHER_TAGS].map((name) => ({ ...TOUCH, ...tagged(name, 1) })));
    expect(kinds).toEqual(['admitted', 'admitted', 'admitted', 'rate_limited']);
  });
}
