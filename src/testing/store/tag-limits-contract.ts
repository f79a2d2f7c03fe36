// Part of the store contract: settings of tags as operators change them; what their limits do is in `limits-contract.ts`.
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Admission } from '../../ports/ledger.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import { expect } from '../expect.ts';
import { setTag, tagged, TAGS_MAX } from './limited-under-test.ts';
import { newId, present, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const TAG = tagged('acme');

function whose(answer: Admission): unknown {
  return 'of' in answer ? answer.of : undefined;
}

export function tagLimitsContract(it: AddStoreCase, subject: Subject): void {
  const set = (team: TeamUnderTest, settings: Parameters<typeof setTag>[2], tag?: string, most?: number): Promise<string> =>
    setTag(subject, team, settings, tag, most);
  const found = async ({ teamId }: TeamUnderTest, tag = 'acme', store: PluginStore = subject.again): Promise<SetTag> =>
    present(answered(await store.tagSettings.find(teamId, tag)));
  const used = async (team: TeamUnderTest, tag = 'acme'): Promise<number> => (await found(team, tag)).use.characters;

  it.team('settings are replaced, listed by tag, and removed; a team that is not there has none', async (team) => {
    const { tagSettings } = subject.store;
    const limits = { requestsPerSecond: 5, characters: 100, windows: 'requests=3/hour characters=40/day', disabled: true };
    expect(await set(team, limits, 'z!~"#')).toBe('set');
    expect(await set(team, { characters: 9 }, 'acme')).toBe('set');
    expect(answered(await subject.again.tagSettings.list(team.teamId))).toMatchObject([
      { tag: 'acme', settings: { characters: 9, disabled: false }, use: { characters: 0, windows: [] } },
      { tag: 'z!~"#', settings: limits, use: { characters: 0, windows: [{ per: 'hour', requests: 3, usedRequests: 0 }, { per: 'day' }] } },
    ]);
    expect(await set(team, { requestsPerSecond: 1 }, 'acme')).toBe('set');
    expect((await found(team)).settings).toEqual({ requestsPerSecond: 1, disabled: false });
    expect(answered(await tagSettings.remove(team.teamId, 'acme'))).toBe(true);
    expect(answered(await tagSettings.remove(team.teamId, 'acme'))).toBe(false);
    expect(answered(await tagSettings.find(team.teamId, 'acme'))).toBeUndefined();
    expect(answered(await tagSettings.list(team.teamId))).toHaveLength(1);
    const none = newId();
    expect(answered(await tagSettings.set(none, 'acme', { disabled: true }, TAGS_MAX))).toEqual({ kind: 'team_unknown' });
    expect(answered(await tagSettings.list(none))).toBeUndefined();
    expect(answered(await tagSettings.find(none, 'acme'))).toBeUndefined();
    expect(answered(await tagSettings.remove(none, 'acme'))).toBe(false);
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
      expect(await team.kinds(TOUCH, { ...TOUCH, ...tagged('other') }, { ...TOUCH, ...TAG })).toEqual([
        'admitted',
        'admitted',
        'tag_disabled',
      ]);
      expect((await team.touch()).kind).toBe('rate_limited');
      subject.clock.step(1000);
      await set(team, {});
      expect(await team.admit({ ...TAG, requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
      await set(team, { disabled: true });
      await team.revoke();
      expect(await team.admit(TAG)).toEqual({ kind: 'key_revoked' });
    },
  );

  it.team('what was charged in the period before a tag had settings counts; what was reserved before does not', async (team) => {
    await team.use(30, TAG);
    const open = await team.reserve(5, TAG);
    await set(team, { characters: 50, windows: 'characters=50/day' });
    expect(await found(team)).toMatchObject({ use: { characters: 30, windows: [{ usedCharacters: 0 }] } });
    await team.commit(open.requestId);
    expect(whose(await team.admit({ characters: 21, ...TAG }))).toBe('tag');
    await team.use(20, TAG);
    expect(await used(team)).toBe(50);
  });

  it.team('a tag that gets settings again has none of what its requests held before', async (team) => {
    await set(team, { characters: 100 });
    await team.kinds({ ...TOUCH, ...TAG }, { ...TOUCH, ...TAG }, { ...TOUCH, ...TAG });
    const before = await team.reserve(60, TAG);
    expect(answered(await subject.store.tagSettings.remove(team.teamId, 'acme'))).toBe(true);
    expect((await team.admit({ characters: 90, ...TAG })).kind).toBe('admitted');
    await set(team, { characters: 100 });
    expect(await used(team)).toBe(0);
    await team.reserve(70, TAG);
    await team.release(before.requestId);
    expect(await used(team)).toBe(70);
  });

  it.team('a tag that is counted with others has limits of its own', async (team) => {
    for (const name of ['a', 'b']) await team.use(1, tagged(name, 1));
    await set(team, { characters: 10 }, 'b');
    await team.use(10, tagged('b', 1));
    expect(whose(await team.admit({ characters: 1, ...tagged('b', 1) }))).toBe('tag');
    await team.use(10, tagged('c', 1));
    await set(team, { requestsPerSecond: 1 }, FURTHER_TAGS);
    expect(
      await team.kinds(
        { ...TOUCH, ...tagged('c', 1) },
        { ...TOUCH, ...tagged('d', 1) },
        { ...TOUCH, ...tagged(FURTHER_TAGS, 1) },
        { ...TOUCH, ...tagged(FURTHER_TAGS, 1) },
      ),
    ).toEqual(['admitted', 'admitted', 'admitted', 'rate_limited']);
  });

  it.team('settings of a deleted team are gone', async (team) => {
    await set(team, { characters: 5 });
    answered(await subject.store.teams.deleteTeam(team.teamId, { keepUsage: true }));
    expect(answered(await subject.again.tagSettings.list(team.teamId))).toBeUndefined();
  });
}
