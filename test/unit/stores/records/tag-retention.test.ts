// What the retention drops of tags, whichever store has them.
import { expect, test } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { pruneTags } from '../../../../src/stores/records/record-tags.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { referenceStore } from '../../../support/reference-store.ts';

test('days before the first that is left go, tags without any, and what was used of settings that are gone for a day', async () => {
  const clock = new MovableClock();
  const store = referenceStore(clock);
  const team = await teamUnderTest(store, { characterLimit: 1000 });
  const charge = async (name: string, characters: number): Promise<void> => {
    await team.commit((await team.reserve(characters, { tag: { name, distinctMax: 10 } })).requestId);
  };
  const tags = async (): Promise<unknown> =>
    answered(await store.tags.days(team.teamId, { from: 0, to: 100_000 }))?.map(({ tag, characters }) => [tag, characters]);
  const used = async (): Promise<string[]> => [...answered(await store.records.list(team.teamId, 'tag_uses')).keys()];
  answered(await store.tagSettings.set(team.teamId, 'gone', { disabled: false, characters: 500 }, 10));
  answered(await store.tagSettings.set(team.teamId, 'set', { disabled: false, characters: 500 }, 10));
  await charge('old', 1);
  await charge('both', 2);
  answered(await store.tagSettings.remove(team.teamId, 'gone'));
  clock.step(2 * DAY_MS);
  await charge('both', 4);
  await charge('new', 8);
  const first = dayOf(clock.nowMs());
  await pruneTags(store.records, team.teamId, first - 10, clock.nowMs());
  expect(await tags()).toEqual(
    expect.arrayContaining([
      ['old', 1],
      ['both', 2],
    ]),
  );
  expect(await used()).toEqual(['set']);
  await pruneTags(store.records, team.teamId, first, clock.nowMs());
  expect(await tags()).toEqual(
    expect.arrayContaining([
      ['both', 4],
      ['new', 8],
    ]),
  );
  expect(await tags()).toHaveLength(2);
});
