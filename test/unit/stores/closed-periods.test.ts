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

test('in Redis', async () => {
  const startMs = clock.nowMs();
  const store = await redis.open({ clock });
  const { teamId } = await closed(store);
  const [, period] = answered(await store.history.periods(teamId))!;
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
  // One record, without unnecessary members.
  expect(await redis.client.exists(`lingate:{${teamId}}:use:1`)).toBe(0);
  expect(await redis.client.hstrlen(`lingate:{${teamId}}:periods`, '1')).toBeLessThan(160);
});

test('in SQLite', async () => {
  const startMs = clock.nowMs();
  await closed(await file.open({ clock }));
  const [period, next] = file.query('SELECT * FROM periods ORDER BY no');
  expect(period).toMatchObject({ start_ms: startMs, left_ms: startMs + 5000, plan: 'test' });
  expect(JSON.parse(String(period?.['limits']))).toEqual({ ...GENEROUS_QUOTA, characterLimit: 100 });
  expect(period).toMatchObject({ opening_micro: 0, balance_micro: 0 });
  expect(next).toMatchObject({ start_ms: startMs + 5000, anchor_ms: startMs + 5000, left_ms: null });
  const used = 'SELECT sum(characters) AS characters, sum(requests) AS requests FROM';
  expect(file.query(`${used} usage WHERE period_no = 1`)).toEqual([{ characters: 12, requests: 2 }]);
});
