// Usage of keys by day in Redis: its bytes and its cost.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { KEY, QUOTA, TEAM, asking, furnish, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
const WHENEVER = { from: 0, to: 1_000_000 };
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;
let today: number;
let count = 0;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  today = dayOf(clock.nowMs());
  store = await redis.open({ clock });
  await furnish(store, { ...QUOTA, characterLimit: 1e15, maxCharactersPerRequest: 1e15, requestsPerSecond: 1000, period: 'P1Y' });
});

async function use(characters: number, keyId = KEY): Promise<void> {
  const requestId = `r${++count}`;
  expect(await store.ledger.admit(asking(requestId, { characters, keyId }))).toMatchObject({ kind: 'admitted' });
  expect(await store.ledger.resolve(TEAM, requestId, 'commit')).toEqual({ kind: 'committed' });
}

/** Day relative to `today`, characters and requests of the one key. */
async function days(range = WHENEVER): Promise<readonly (readonly number[])[]> {
  const { days: found } = answered(await store.history.days(TEAM, range))!;
  return found.map(({ day, characters, requests }) => [day - today, characters, requests]);
}

function scans(commandStatistics: string): number {
  return Number(/^cmdstat_hscan:calls=(\d+)/m.exec(commandStatistics)?.[1] ?? 0);
}

describe('days in Redis', () => {
  test('are counted without an additional command: only the first commit of a day reads earlier days', async () => {
    await use(5);
    const commands = async (): Promise<number> => {
      const statistics = await client.info('commandstats');
      return [...statistics.matchAll(/^cmdstat_(?!info|config|fcall)\S+:calls=(\d+)/gm)].reduce((sum, match) => sum + Number(match[1]), 0);
    };
    const costs: number[] = [];
    for (const step of [0, 0, DAY_MS, 0]) {
      clock.move(step);
      await client.config('RESETSTAT');
      await use(5);
      costs.push(await commands());
    }
    const [first, again, newDay, sameDay] = costs as [number, number, number, number];
    expect(again).toBe(first);
    expect(sameDay).toBe(first);
    expect(newDay).toBeGreaterThan(first);
    expect(await days()).toEqual([
      [0, 15, 3],
      [1, 10, 2],
    ]);
  });

  test('are in calendar order whatever the clock does, and lose nothing', async () => {
    for (const [step, characters] of [
      [0, 1],
      [3, 20],
      [-2, 300],
      [2, 4000],
      [-5, 50_000],
      [2, 600_000],
      [0, 7],
      [1, 8],
    ] as const) {
      clock.move(step * DAY_MS);
      await use(characters);
    }
    expect(await days()).toEqual([
      [-2, 50_000, 1],
      [0, 600_008, 3],
      [1, 308, 2],
      [3, 4020, 2],
    ]);
    expect(await days({ from: today, to: today + 1 })).toEqual([
      [0, 600_008, 3],
      [1, 308, 2],
    ]);
  });

  test('are exact up to the largest counts, in few bytes', async () => {
    for (let i = 0; i < 3; i++) {
      await use(2 ** 40 + i);
      clock.move(DAY_MS);
    }
    await use(1);
    expect(await days()).toEqual([
      [0, 2 ** 40, 1],
      [1, 2 ** 40 + 1, 1],
      [2, 2 ** 40 + 2, 1],
      [3, 1, 1],
    ]);
    // 26 bytes for the record's counts, and for each day one for its distance, six for its characters and one for its requests.
    expect(await client.hstrlen(keys.days, KEY)).toBe(26 + 3 * 8);
  });

  test('before the retention are not returned', async () => {
    await use(5);
    clock.move(3 * DAY_MS);
    await use(6);
    const shorter = await redis.open({ clock, historyDays: 2 });
    const { days: returned } = answered(await shorter.history.days(TEAM, WHENEVER))!;
    expect(returned.map(({ day }) => day - today)).toEqual([3]);
    expect(await days()).toHaveLength(2);
  });

  test('of tags are dropped with those of keys, and so are tags of which nothing is left', async () => {
    const useTag = async (name: string): Promise<void> => {
      const requestId = `r${++count}`;
      await store.ledger.admit({ ...asking(requestId, { characters: 1 }), tag: { name, distinctMax: 10 } });
      await store.ledger.resolve(TEAM, requestId, 'commit');
    };
    for (let n = 0; n < 6; n++) {
      await useTag('daily');
      if (n === 1) await useTag('once');
      clock.move(DAY_MS);
    }
    await redis.open({ clock, historyDays: 3, tendEveryMs: 20 });
    await expect.poll(() => client.hkeys(keys.tag_counts), { timeout: 60_000 }).toEqual(['daily']);
    const left = answered(await store.tags.days(TEAM, WHENEVER));
    expect(left.map(({ tag, day }) => [tag, day - today])).toEqual([
      ['daily', 3],
      ['daily', 4],
      ['daily', 5],
    ]);
  });

  test('of many tags are dropped some hundred at a time', async () => {
    const [old, recent] = [today - 5, today - 1];
    for (let first = 0; first < 3000; first += 100) {
      const tags = Array.from({ length: 100 }, (_, i) => `tag-${first + i}`);
      await client.hset(keys.tag_counts, ...tags.flatMap((tag, i) => [tag, i === 0 ? `${recent} 2 1` : `${old} 1 1`]));
      await client.hset(keys.tag_days, ...tags.flatMap((tag, i) => (i < 2 ? [tag, `${old - 1}:3:1 ${old}:4:1`] : [])));
    }
    await use(1);
    clock.move(DAY_MS);
    await client.config('RESETSTAT');
    await redis.open({ clock, historyDays: 3, tendEveryMs: 20 });
    await expect.poll(() => client.hlen(keys.tag_counts), { timeout: 60_000 }).toBe(30);
    await expect.poll(() => client.exists(keys.tag_days), { timeout: 60_000 }).toBe(0);
    // A piece looks at 500 tags or a few more.
    expect(scans(await client.info('commandstats'))).toBeGreaterThanOrEqual(5);
  });

  test('what was used of settings of tags is dropped a day after it can no longer be confused with what follows', async () => {
    const { tagSettings } = store;
    clock.move(DAY_MS * 1.5 - (clock.nowMs() % DAY_MS));
    for (const tag of ['removed', 'kept', 'set again']) await tagSettings.set(TEAM, tag, { disabled: false, characters: 100 }, 10);
    const tagged = (name: string, requestId: string) => ({
      ...asking(requestId, { characters: 60, leaseMs: 9 * DAY_MS }),
      tag: { name, distinctMax: 10 },
    });
    await store.ledger.admit(tagged('removed', 'before'));
    for (const tag of ['removed', 'set again']) expect(await tagSettings.remove(TEAM, tag)).toBe(true);
    await tagSettings.set(TEAM, 'set again', { disabled: true }, 10);
    const left = async (): Promise<string[]> => (await client.hkeys(keys.tag_uses)).toSorted();
    const nextDay = async (): Promise<void> => {
      await client.config('RESETSTAT');
      clock.move(DAY_MS);
      await expect.poll(async () => scans(await client.info('commandstats')), { timeout: 60_000 }).toBeGreaterThanOrEqual(2);
    };
    clock.move(-DAY_MS / 3);
    await redis.open({ clock, tendEveryMs: 20 });
    await nextDay();
    expect(await left()).toEqual(['kept', 'removed', 'set again']);
    await nextDay();
    await expect.poll(left, { timeout: 60_000 }).toEqual(['kept', 'set again']);
    // What was reserved before is no longer counted, and does not come back.
    await tagSettings.set(TEAM, 'removed', { disabled: false, characters: 100 }, 10);
    await store.ledger.admit(tagged('removed', 'after'));
    await store.ledger.resolve(TEAM, 'before', 'release');
    expect(answered(await tagSettings.find(TEAM, 'removed'))?.use.characters).toBe(60);
  });
});
