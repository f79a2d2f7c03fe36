// A period closed by a change to a plan with another length: both stores keep its figures, its bounds and its plan.
import { afterEach, expect, test } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { GENEROUS_QUOTA, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { emptyRedis } from '../../support/redis-of-file.ts';
import { sqliteFile } from './sqlite/sqlite-file.ts';
import type { PluginStore } from '../../../src/ports/plugin.ts';

const clock = new MovableClock();
const redis = emptyRedis();
const file = sqliteFile();
afterEach(() => file.remove());

/** Uses 7 characters in the first period, leaves 5 reserved, and charges these after the change. */
async function closed(store: PluginStore) {
  const team = await teamUnderTest(store, { characterLimit: 100 });
  await team.commit((await team.reserve(7)).requestId);
  const open = await team.reserve(5);
  clock.step(5000);
  await team.setLimits({ characterLimit: 9, period: 'PT1H' });
  await team.commit(open.requestId);
  await team.commit((await team.reserve(3)).requestId);
  return team;
}

test.each(['Redis', 'SQLite'] as const)('in %s', async (kind) => {
  const startMs = clock.nowMs();
  const store = kind === 'SQLite' ? await file.open({ clock }) : await redis.open({ clock });
  const { teamId } = await closed(store);
  const [running, period] = answered(await store.history.periods(teamId))!;
  expect(running).toMatchObject({ number: 2, startMs: startMs + 5000, endMs: startMs + 3_605_000, closed: false, characters: 3 });
  expect(period).toEqual({
    number: 1,
    startMs,
    endMs: startMs + 5000,
    closed: true,
    plan: 'test',
    limits: { ...GENEROUS_QUOTA, characterLimit: 100 },
    characters: 12,
    allowanceUsed: 0,
    testCharacters: 0,
    requests: 2,
    credit: { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 },
  });
  if (kind === 'SQLite') return;
});
