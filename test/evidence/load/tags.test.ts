// Ever new tags: stores keep as many as are counted, and no more however many come.
import { expect, test } from 'vitest';
import { answered, FURTHER_TAGS } from '../../../src/index.ts';
import { MovableClock } from '../../../src/testing.ts';
import { teamUnderTest } from '../../support/door/contracts.ts';
import { sized } from '../scorecard/size.ts';
import { redisBacking, sqliteBacking } from '../../support/backings.ts';

const REQUESTS = sized(5000, 100_000);
const TOGETHER = 500;
const DISTINCT_MAX = 1000;
const TIMEOUT_MS = 900_000;

test.each([
  ['SQLite', () => sqliteBacking('normal')],
  ['Redis', redisBacking],
] as const)(
  '%s',
  async (_name, backing) => {
    const opened = await backing();
    const clock = new MovableClock();
    const store = await opened.open(clock);
    try {
      const team = await teamUnderTest(store, { requestsPerSecond: TOGETHER, characterLimit: REQUESTS });
      for (let first = 0; first < REQUESTS; first += TOGETHER) {
        clock.step(1000);
        const names = Array.from({ length: TOGETHER }, (_, i) => `customer-${first + i}`);
        const reserved = await Promise.all(names.map((name) => team.reserve(1, { tag: { name, distinctMax: DISTINCT_MAX } })));
        await Promise.all(reserved.map(({ requestId }) => team.commit(requestId)));
      }
      const counts = answered(await store.records.list(team.teamId, 'tag_counts'));
      expect(counts.size).toBe(DISTINCT_MAX + 1);
      expect(answered(await store.records.list(team.teamId, 'tag_days')).size).toBeLessThanOrEqual(DISTINCT_MAX + 1);
      const days = answered(await store.tags.days(team.teamId, { from: 0, to: 100_000 }));
      const [ofFurther, all] = [days.filter(({ tag }) => tag === FURTHER_TAGS), days].map((rows) =>
        rows.reduce((sum, { characters }) => sum + characters, 0),
      );
      expect([ofFurther, all]).toEqual([REQUESTS - DISTINCT_MAX, REQUESTS]);
      expect(await team.usage()).toMatchObject({ characters: REQUESTS });
    } finally {
      await store.close();
      await opened.remove();
    }
  },
  TIMEOUT_MS,
);
