// The parts of the store contract that admissions rest on, over a Redis Cluster: two instances on three masters.
import { storeContract } from 'lingate/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRedisStore } from '../../support/door/stores.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import type { RedisCluster } from '../../support/redis-cluster.ts';
import { SILENT } from '../../support/silent-log.ts';

/** All others are about what is stored, and take minutes. */
const PARTS = [
  'request rate',
  'quota',
  'credit',
  'settlement of reservations',
  'partial charges',
  'open ids',
  'keys with limits',
  'free characters of test keys',
  'limits',
  'what engines with a limit have used',
];

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
});

afterAll(() => cluster.stop());

describe('the store contract, kept by the Redis store on a cluster', () => {
  const contract = storeContract(async (clock) =>
    promisedStore(await openRedisStore({ url: cluster.url, log: SILENT, clock, commandTimeoutMs: 5000 })),
  );
  describe.each(PARTS)('%s', (part) => {
    const cases = contract.cases.filter(({ name }) => name.startsWith(`${part}: `));
    test.each(cases)('$name', ({ run: expectUpheld }) => expectUpheld());
    test('the contract has this part', () => expect(cases).not.toEqual([]));
  });
  afterAll(() => contract.close());
});
