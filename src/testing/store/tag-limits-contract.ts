// Part of the store contract: settings of tags, which apply to all keys of their team together, in the operation that admits.
import type { TagSettings } from '../../domain/tag-settings.ts';
import { writtenWindows } from '../../domain/window-limits.ts';
import { FURTHER_TAGS } from '../../domain/request-tag.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Admission } from '../../ports/ledger.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import type { SetTag } from '../../ports/tag-registry.ts';
import { expect } from '../expect.ts';
import { keyUnderTest } from './key-under-test.ts';
import { BACKWARD, FORWARD } from './rate-contract.ts';
import { newId, present, teamUnderTest, TOUCH } from './team-under-test.ts';
import type { AddStoreCase, AdmissionChoices, Subject, TeamUnderTest } from './team-under-test.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MOST = 1000;

const tagged = (name: string, more: AdmissionChoices = {}, distinctMax = MOST): AdmissionChoices => ({
  ...more,
  tag: { name, distinctMax },
});
const TAG = tagged('acme');
const TOUCH_TAG = tagged('acme', TOUCH);

function whose(answer: Admission): unknown {
  return 'of' in answer ? answer.of : undefined;
}

export function tagLimitsContract(it: AddStoreCase, subject: Subject): void {
  const set = async (team: TeamUnderTest, settings: Partial<TagSettings>, tag = 'acme', most = MOST): Promise<string> =>
    answered(await subject.store.tagSettings.set(team.teamId, tag, { disabled: false, ...settings }, most)).kind;
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
    expect(answered(await tagSettings.set(none, 'acme', { disabled: true }, MOST))).toEqual({ kind: 'team_unknown' });
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
      expect(await team.kinds(TOUCH, tagged('other', TOUCH), TOUCH_TAG)).toEqual(['admitted', 'admitted', 'tag_disabled']);
      expect((await team.touch()).kind).toBe('rate_limited');
      subject.clock.step(1000);
      await set(team, {});
      expect(await team.admit({ ...TAG, requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId } });
      await set(team, { disabled: true });
      await team.revoke();
      expect(await team.admit(TAG)).toEqual({ kind: 'key_revoked' });
    },
  );

  it.team('what was admitted before a tag was disabled is settled', async (team) => {
    await set(team, {});
    const { requestId } = await team.reserve(7, TAG);
    await set(team, { disabled: true });
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect(await used(team)).toBe(7);
  });

  it("a tag's rate is judged after the team's and the key's, for all keys together, and takes no slot of theirs", async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 5 });
    const key = await keyUnderTest(subject, { requestsPerSecond: 3 }, team);
    await set(team, { requestsPerSecond: 2 });
    expect(await team.kinds(TOUCH_TAG)).toEqual(['admitted']);
    clock.step(100);
    expect(await key.kinds(TOUCH_TAG)).toEqual(['admitted']);
    for (let i = 0; i < 3; i++)
      expect(await key.admit(TOUCH_TAG)).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 900, of: 'tag' });
    expect(await subject.again.ledger.check({ requestId: newId(), teamId: team.teamId, keyId: team.keyId, tag: TAG.tag })).toMatchObject({
      kind: 'rate_limited',
      of: 'tag',
    });
    expect(await key.kinds(tagged('other', TOUCH))).toEqual(['admitted']);
    expect(await team.kinds(TOUCH, TOUCH)).toEqual(['admitted', 'admitted']);
    expect(whose(await team.admit(TOUCH_TAG))).toBeUndefined();
    clock.step(900);
    expect(await key.kinds(TOUCH_TAG)).toEqual(['admitted']);
    clock.step(100);
    expect(await team.kinds(TOUCH_TAG)).toEqual(['admitted']);
    expect(whose(await team.admit(TOUCH_TAG))).toBe('tag');
  });

  it.each([...FORWARD, ...BACKWARD])("a tag's own window: $name", async ({ limit, steps, waits }) => {
    const team = await teamUnderTest(subject.store);
    await set(team, { requestsPerSecond: limit });
    const waited: number[] = [];
    for (const step of steps) {
      subject.clock.step(step);
      const answer = await team.admit(TOUCH_TAG);
      waited.push(answer.kind === 'rate_limited' ? answer.retryAfterMs : 0);
    }
    expect(waited).toEqual(waits);
    expect(whose(await team.admit(TOUCH_TAG))).toBe('tag');
  });

  it('windows of a tag are judged last, count all keys, and take back what is not charged', async ({ clock }) => {
    const team = await teamUnderTest(subject.store, { windows: 'requests=6/hour' });
    const key = await keyUnderTest(subject, { windows: 'requests=4/hour' }, team);
    await set(team, { windows: 'requests=3/hour characters=40/day' });
    const first = await key.reserve(30, TAG);
    const refused = { kind: 'rate_limited', limit: 40, of: 'tag', window: { per: 'day', counts: 'characters' } };
    expect(await team.admit({ characters: 11, ...TAG })).toMatchObject(refused);
    await team.release(first.requestId);
    await team.use(40, TAG);
    expect(await team.admit({ characters: 1, ...TAG })).toMatchObject(refused);
    expect(await key.kinds(TOUCH_TAG)).toEqual(['admitted']);
    const ends = HOUR_MS - (clock.nowMs() % HOUR_MS);
    const requests = { kind: 'rate_limited', limit: 3, retryAfterMs: ends, of: 'tag', window: { per: 'hour', counts: 'requests' } };
    expect(await team.admit(TOUCH_TAG)).toEqual(requests);
    expect(await key.admit(TOUCH_TAG)).toEqual(requests);
    expect(await key.kinds(tagged('other', TOUCH), TOUCH)).toEqual(['admitted', 'admitted']);
    expect(whose(await key.admit(TOUCH_TAG))).toBe('key');
    expect((await team.touch()).kind).toBe('admitted');
    expect(whose(await team.admit(TOUCH_TAG))).toBeUndefined();
    expect((await found(team)).use.windows).toMatchObject([
      { per: 'hour', requests: 3, usedRequests: 3, usedCharacters: 40, endMs: clock.nowMs() + ends },
      { per: 'day', characters: 40, usedRequests: 3, usedCharacters: 40 },
    ]);
    clock.step(ends);
    await team.admit(TOUCH_TAG);
    expect((await found(team)).use.windows).toMatchObject([{ usedRequests: 1 }, { usedRequests: 4, usedCharacters: 40 }]);
  });

  it.team('a text longer than a window of the tag is refused in the place of quota', async (team) => {
    await set(team, { windows: 'characters=40/day', characters: 10 });
    const answer = await team.admit({ characters: 41, ...TAG });
    expect(answer).toMatchObject({ kind: 'quota_exceeded', characterLimit: 40, overageCapMinor: 0, of: 'tag', window: { per: 'day' } });
    expect((await found(team)).use.windows).toMatchObject([{ usedCharacters: 0 }]);
  });

  it('characters of a tag in a period include open reservations and all keys, and are judged between those of key and team', async () => {
    const team = await teamUnderTest(subject.store, { characterLimit: 100, maxCharactersPerRequest: 1000 });
    const key = await keyUnderTest(subject, { characters: 60 }, team);
    await set(team, { characters: 50 });
    const one = await key.reserve(20, TAG);
    await team.use(20, TAG);
    const refused = {
      kind: 'quota_exceeded',
      characterLimit: 50,
      overageCapMinor: 0,
      periodEndMs: (await team.usage()).periodEndMs,
      of: 'tag',
    };
    expect(await team.admit({ characters: 11, ...TAG })).toEqual(refused);
    expect(await key.admit({ characters: 11, ...TAG })).toEqual(refused);
    expect(whose(await key.admit({ characters: 41, ...TAG }))).toBe('key');
    expect(whose(await team.admit({ characters: 101, ...TAG }))).toBe('tag');
    await team.commit(one.requestId);
    expect(await used(team)).toBe(40);
    await team.use(10, TAG);
    expect(await team.admit({ characters: 1, ...TAG })).toEqual(refused);
    await team.use(10, tagged('other'));
    expect(whose(await team.admit({ characters: 41 }))).toBeUndefined();
    await set(team, { characters: 60 });
    await team.use(10, TAG);
    expect(await used(team)).toBe(60);
  });

  it.team('characters of a tag begin with each period of the team; what comes back late is of the period before', async (team) => {
    await set(team, { characters: 50 });
    const { periodEndMs } = await team.usage();
    subject.clock.set(periodEndMs - 10);
    const [early, late] = [await team.reserve(30, TAG), await team.reserve(20, TAG)];
    expect(whose(await team.admit({ characters: 1, ...TAG }))).toBe('tag');
    subject.clock.set(periodEndMs);
    expect(await used(team)).toBe(0);
    await team.reserve(50, TAG);
    await team.release(early.requestId);
    await team.commit(late.requestId);
    expect(await used(team)).toBe(50);
    expect(whose(await team.admit({ characters: 1, ...TAG }))).toBe('tag');
  });

  it.team('what expires, is released or is charged in part comes back, once', async (team) => {
    await set(team, { characters: 100, windows: 'characters=100/day' });
    await team.reserve(40, { ...TAG, leaseMs: 1000 });
    const { requestId } = await team.reserve(30, TAG);
    await team.commitPart(requestId, 10);
    await team.commitPart(requestId, 10);
    subject.clock.step(1000);
    await team.touch();
    expect(await found(team)).toMatchObject({ use: { characters: 10, windows: [{ usedCharacters: 10 }] } });
  });

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
    await team.kinds(TOUCH_TAG, TOUCH_TAG, TOUCH_TAG);
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
    for (const name of ['a', 'b']) await team.use(1, tagged(name, {}, 1));
    await set(team, { characters: 10 }, 'b');
    await team.use(10, tagged('b', {}, 1));
    expect(whose(await team.admit({ characters: 1, ...tagged('b', {}, 1) }))).toBe('tag');
    await team.use(10, tagged('c', {}, 1));
    await set(team, { requestsPerSecond: 1 }, FURTHER_TAGS);
    expect(
      await team.kinds(tagged('c', TOUCH, 1), tagged('d', TOUCH, 1), tagged(FURTHER_TAGS, TOUCH, 1), tagged(FURTHER_TAGS, TOUCH, 1)),
    ).toEqual(['admitted', 'admitted', 'admitted', 'rate_limited']);
  });

  it('the rate that is reported is that with the fewest free slots, and windows of the tag come last', async () => {
    const team = await teamUnderTest(subject.store, { requestsPerSecond: 10, windows: 'requests=9/day' });
    await set(team, { requestsPerSecond: 5, windows: 'requests=8/day characters=90/day' });
    const answer = await team.admit({ ...TAG, characters: 20, reportRate: true });
    expect(answer).toMatchObject({
      rate: { limit: 5, remaining: 4, of: 'tag' },
      windows: [
        { per: 'day', counts: 'requests', limit: 9, remaining: 8 },
        { per: 'day', counts: 'requests', limit: 8, remaining: 7, of: 'tag' },
        { per: 'day', counts: 'characters', limit: 90, remaining: 70, of: 'tag' },
      ],
    });
    await set(team, { requestsPerSecond: 50 });
    const other = await team.admit({ ...TOUCH_TAG, reportRate: true });
    expect(other).toMatchObject({ rate: { limit: 10, remaining: 8 }, windows: [{ limit: 9, remaining: 7 }] });
    const plain = await teamUnderTest(subject.store);
    await set(plain, { characters: 5 });
    const bare = await plain.admit({ ...TOUCH_TAG, reportRate: true });
    expect('windows' in bare && bare.windows !== undefined).toBe(false);
  });

  it.team('of concurrent requests over two instances and several keys exactly as many are admitted as the tag may', async (team) => {
    const keys = [team, team.withKey((await team.newKey()).keyId), team.withKey((await team.newKey()).keyId)];
    await set(team, { windows: writtenWindows([{ per: 'day', requests: 20, characters: 1000 }]), characters: 1000 });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => keys[i % 3]!.admit({ characters: 3, ...TAG }, i % 2 === 0 ? subject.store : subject.again)),
    );
    expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(20);
    expect(await used(team)).toBe(60);
  });

  it.team(
    'of concurrent requests of several tags, each is judged by its own, and gives back to it',
    { windows: 'requests=60/day' },
    async (team) => {
      const mayBe = { one: 5, two: 7 };
      for (const [tag, most] of Object.entries(mayBe)) await set(team, { windows: `requests=${most}/hour characters=${most}0/day` }, tag);
      await set(team, { characters: 40 }, 'three');
      const choices = [tagged('one'), tagged('two'), tagged('three'), tagged('without settings'), {}];
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => team.admit(choices[i % 5], Math.floor(i / 5) % 2 === 0 ? subject.store : subject.again)),
      );
      const reserved = (of: number): string[] =>
        answers.flatMap((one, i) => (i % 5 === of && one.kind === 'admitted' ? [one.reservation!.requestId] : []));
      expect(choices.map((_, of) => reserved(of).length)).toEqual([5, 7, 4, 8, 8]);
      const given = [...reserved(0), ...reserved(1), ...reserved(2).slice(1)];
      const [refused] = await Promise.all([
        team.admit(tagged('one')),
        ...given.map((requestId, i) => team.release(requestId, i % 2 === 0 ? subject.store : subject.again)),
      ]);
      expect(whose(refused)).toBe('tag');
      const usesOf = async (tag: string): Promise<unknown> => (await found(team, tag)).use;
      expect(await usesOf('one')).toMatchObject({ characters: 0, windows: [{ usedRequests: 5 }, { usedCharacters: 0 }] });
      expect(await usesOf('two')).toMatchObject({ characters: 0, windows: [{ usedRequests: 7 }, { usedCharacters: 0 }] });
      expect(await usesOf('three')).toMatchObject({ characters: 10 });
      // A request that a tag's characters in the period refuse has taken its place in the team's day.
      expect((await team.usage()).windows).toMatchObject([{ usedRequests: 5 + 7 + 8 + 8 + 8 }]);
    },
  );

  it.team('settings of a deleted team are gone', async (team) => {
    await set(team, { characters: 5 });
    answered(await subject.store.teams.deleteTeam(team.teamId, { keepUsage: true }));
    expect(answered(await subject.again.tagSettings.list(team.teamId))).toBeUndefined();
  });

  it.team('limits by minute to month that replace others hold from the next request on', async (team) => {
    await set(team, { windows: 'requests=5/day' });
    await team.kinds(TOUCH_TAG, TOUCH_TAG);
    await set(team, { windows: 'requests=2/day' });
    expect(whose(await team.admit(TOUCH_TAG))).toBe('tag');
    await set(team, { windows: 'requests=3/day' });
    expect(await team.kinds(TOUCH_TAG, TOUCH_TAG)).toEqual(['admitted', 'rate_limited']);
  });

  it.team('a day later nothing of a window of a day is left', async (team) => {
    await set(team, { windows: 'characters=10/day' });
    await team.use(10, TAG);
    expect(whose(await team.admit({ characters: 1, ...TAG }))).toBe('tag');
    subject.clock.step(DAY_MS);
    expect((await team.admit({ characters: 10, ...TAG })).kind).toBe('admitted');
  });
}
