// Remembered requests in Redis: what a full server still does with them, and an index that is wrong.
import type { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { RequestClaim } from '../../../../src/ports/idempotency-records.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { snapshot } from './fixture.ts';

redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
});

function claimOf(id: string): RequestClaim {
  return { id, request: 'r', recordId: `record of ${id}`, teamId: 'T', holder: 'H', leaseMs: 60_000 };
}

test('a full server takes no new request, keeps the answers of those that run, and lets go of them', async () => {
  for (const id of ['done', 'failed', 'unknown']) answered(await store.idempotency.claim(claimOf(id)));
  const before = await snapshot(client);
  await client.config('SET', 'maxmemory', '1');
  try {
    expect(await store.idempotency.claim(claimOf('new'))).toMatchObject({ kind: 'unavailable', cause: 'oom' });
    expect(await snapshot(client)).toEqual(before);
    expect(await store.idempotency.finish(claimOf('done'), '{}', undefined)).toBeUndefined();
    expect(await store.idempotency.release(claimOf('failed'), 'forget')).toBeUndefined();
    expect(await store.idempotency.release(claimOf('unknown'), 'repeat')).toBeUndefined();
    expect(await store.idempotency.claim(claimOf('done'))).toEqual({ kind: 'answered', answer: '{}' });
  } finally {
    await client.config('SET', 'maxmemory', '0');
  }
  expect(await store.idempotency.claim({ ...claimOf('unknown'), recordId: 'another' })).toEqual({
    kind: 'claimed',
    recordId: 'record of unknown',
  });
  expect(await store.idempotency.claim({ ...claimOf('failed'), request: 'another' })).toMatchObject({ kind: 'claimed' });
  expect(await client.hget('lingate:{shared}:totals', 'requests')).toBe('3');
});

test('an index entry without a request, or a request that its index lacks, stops nobody', async () => {
  answered(await store.idempotency.claim(claimOf('lost')));
  await client.hdel('lingate:{shared}:requests', 'lost');
  await client.zadd('lingate:{shared}:requests_by_end', 0, '000000000000001 gone');
  expect(await store.idempotency.claim(claimOf('next'))).toMatchObject({ kind: 'claimed' });
  expect(await store.idempotency.claim(claimOf('lost'))).toMatchObject({ kind: 'claimed' });
  expect(await store.idempotency.sweep()).toBeUndefined();
  expect((await client.zrange('lingate:{shared}:requests_by_end', '0', '-1')).filter((entry) => entry.endsWith(' gone'))).toEqual([]);
  expect(await store.idempotency.forgetTeam('T')).toBeUndefined();
  expect(await client.hlen('lingate:{shared}:requests')).toBe(0);
  expect(await client.exists('lingate:{shared}:requests_by_team')).toBe(0);
});
