// The example of a store in PostgreSQL and the Redis store on a cluster give the model's answers to random histories.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../../config/examples/postgres-store.ts';
import { judgingBacking } from '../support/backings.ts';
import { Equality } from '../support/model/equality.ts';
import { busyHistory, history } from '../support/model/history.ts';
import { startPostgres } from '../support/postgres.ts';
import { promisedStore } from '../support/promised-store.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { draws, wholeNumber } from '../support/seed.ts';
import { openBy } from '../support/store-place.ts';

const RUNS = wholeNumber('LINGATE_PROPERTY_RUNS') ?? draws(5);
const STEPS_MAX = 60;
const TIMEOUT_MS = 120_000 + RUNS * 4000;
/** Generous: other tests may use both cores, and overdue answers are not tested here. */
const WAIT_MS = 30_000;

const KINDS = [
  {
    name: 'PostgreSQL',
    async place() {
      const server = await startPostgres();
      const { url } = server;
      const others = new Map([['postgres', (of: string) => openPostgresStore(of, { nowMs: () => Date.now() }, WAIT_MS)]]);
      return {
        backing: judgingBacking(
          url,
          (clock) => openPostgresStore(url, clock, WAIT_MS),
          () => server.stop(),
        ),
        others,
      };
    },
  },
  {
    name: 'a Redis cluster',
    async place() {
      const cluster = await startRedisCluster({ replicasEach: 0 });
      const { url } = cluster;
      return {
        backing: judgingBacking(
          url,
          async (clock) => promisedStore(await openBy(clock, url)),
          () => cluster.stop(),
        ),
      };
    },
  },
];

describe.each(KINDS)('$name', (kind) => {
  let stores: Equality;
  beforeAll(async () => {
    stores = new Equality([{ name: kind.name, ...(await kind.place()) }]);
    await stores.open();
  });
  afterAll(() => stores.close());

  test.each([
    { title: 'gives the model’s answers, whatever is done, and however its clock steps', histories: history(STEPS_MAX), runs: RUNS },
    { title: 'admits a team limited only by its rate as the model does', histories: busyHistory(STEPS_MAX), runs: RUNS / 2 },
  ])('$title', { timeout: TIMEOUT_MS }, async ({ histories, runs }) => expect(await stores.agree(histories, runs)).toBeGreaterThan(runs));
  test('its check finds nothing in what is left', async () => expect(await stores.findings()).toEqual([]), TIMEOUT_MS);
});
