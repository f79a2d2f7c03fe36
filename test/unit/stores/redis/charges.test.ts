// What is charged leaves no numbers of nothing behind: the janitor moves what a charge has, and would find the rest again for ever.
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedis } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { asking, furnish, snapshot, TEAM } from './fixture.ts';
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
