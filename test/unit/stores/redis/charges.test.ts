// What is charged leaves no numbers of nothing behind, and the janitor removes only what was charged in periods that are gone.
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedis } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { asking, furnish, KEY, snapshot, TEAM } from './fixture.ts';
import { Redis } from 'ioredis';

test('a delivery of no characters counts as a request alone', async ({ onTestFinished }) => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const store = promisedStore(await openRedisStore({ url: redis.url, log: SILENT, commandTimeoutMs: 5000 }));
  onTestFinished(() => store.close());
  await furnish(store);
  const requestId = ulid();
  expect(await store.ledger.admit(asking(requestId))).toMatchObject({ kind: 'admitted' });
  expect(await store.ledger.resolve(TEAM, requestId, 'commit', 0)).toEqual({ kind: 'committed' });
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const [, days] = Object.entries(await snapshot(client)).find(([name]) => name.endsWith(':days'))!;
  expect((JSON.parse(days) as string[][]).map(([field, value]) => [field!.split(' ')[3], value])).toEqual([['requests', '1']]);
});

test('what was charged in periods that are gone is removed, and what is charged in one that has just begun stays', async ({
  onTestFinished,
}) => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  const first = promisedStore(await openRedisStore({ url: redis.url, log: SILENT, commandTimeoutMs: 5000 }));
  await furnish(first);
  await first.close();
  // The running period is 1: the janitor may have read it just before 2 began.
  const days = `lingate:{${TEAM}}:days`;
  await client.hset(days, { [`20000 0 ${KEY} characters`]: 7, [`20001 2 ${KEY} characters`]: 777 });
  const store = await openRedisStore({ url: redis.url, log: SILENT, commandTimeoutMs: 5000, maintainEveryMs: 20 });
  onTestFinished(() => store.close());
  await expect.poll(() => client.hgetall(days)).toEqual({ [`20001 2 ${KEY} characters`]: '777' });
});

test('of more deleted teams than are read at once, all of which nothing is left go in one round', async ({ onTestFinished }) => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const client = new Redis(redis.url);
  onTestFinished(() => client.disconnect());
  for (let no = 1; no <= 210; no++) {
    const teamId = `01JTEAM${String(no).padStart(19, '0')}`;
    const left = { teamId, keepUsage: true, createdAtMs: 0, balanceMicro: 0, plan: 'plan', limits: { windows: '' } };
    await client.zadd('lingate:teams', no, teamId);
    await client.hset(`lingate:{${teamId}}`, 'deleted', JSON.stringify(left));
  }
  const store = await openRedisStore({ url: redis.url, log: SILENT, commandTimeoutMs: 5000, maintainEveryMs: 20 });
  onTestFinished(() => store.close());
  await expect.poll(() => client.zcard('lingate:teams'), { timeout: 10_000 }).toBe(0);
});
