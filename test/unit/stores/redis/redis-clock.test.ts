// The clock of a Redis store: a step of the servers' clocks changes nothing, and all gateways believe it together.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { CLOCK_KEY } from '../../../../src/stores/redis/redis-keys.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { SteppingClock } from '../../../support/stepping-clock.ts';

const redis = emptyRedis();
let real: MovableClock;
let machine: SteppingClock;

beforeEach(() => {
  real = new MovableClock();
  machine = new SteppingClock(real);
});

/** Ends with its test. */
async function opened(tendEveryMs?: number): Promise<Store> {
  const store = await openRedisStore({ url: redis.server.url, log: SILENT, servers: machine, commandTimeoutMs: 5000, tendEveryMs });
  closing.push(store);
  expect(await store.clock.look()).toBeUndefined();
  return store;
}

const closing: Store[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((store) => store.close()));
});

test.each([500, 35, -500])('%i days of difference for some seconds change nothing', async (days) => {
  const store = await opened(20);
  const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  await team.commit((await team.reserve(40)).requestId);
  machine.offByMs = days * DAY_MS;
  const other = await opened();
  await team.commit((await team.reserve(40)).requestId);
  await store.clock.look();
  expect([store, other].map(({ clock }) => clock.step())).toEqual([{ byMs: days * DAY_MS }, { byMs: days * DAY_MS }]);
  real.step(2500);
  machine.offByMs = 0;
  expect(await team.usage()).toMatchObject({ characters: 80 });
  const periods = answered(await store.history.periods(team.teamId))!;
  expect(periods.map(({ startMs, closed }) => [startMs, closed])).toEqual([[real.nowMs() - 2500, false]]);
  await store.clock.look();
  expect(store.clock.step()).toBeUndefined();
});

describe('a clock that is accepted', () => {
  test('is believed by every gateway of the store at its next look, and by those that start', async () => {
    const [store, other] = [await opened(), await opened()];
    machine.offByMs = 500 * DAY_MS;
    await other.clock.look();
    expect(await store.clock.accept()).toEqual({ kind: 'accepted', nowMs: machine.wallMs(), steppedMs: 500 * DAY_MS });
    await other.clock.look();
    expect([store, other, await opened()].map(({ clock }) => clock.step())).toEqual([undefined, undefined, undefined]);
  });

  test('is what Redis remembers, and only then', async () => {
    const store = await opened();
    expect(await redis.client.get(CLOCK_KEY)).toBe(String(real.nowMs()));
    machine.offByMs = 500 * DAY_MS;
    real.step(120_000);
    await store.clock.look();
    expect(await redis.client.get(CLOCK_KEY)).toBe(String(real.nowMs() - 120_000));
    await store.clock.accept();
    expect(await redis.client.get(CLOCK_KEY)).toBe(String(machine.wallMs()));
  });
});

test('requests that take effect once are forgotten by the time that is believed, never by the clock of a server', async () => {
  const store = await opened(20);
  const claim = { request: 'POST', recordId: 'R', teamId: 'T', holder: 'H', leaseMs: 1000 };
  const claimed = async (id: string) => answered(await store.idempotency.claim({ ...claim, id })).kind;
  const remembered = async () => (await redis.client.hkeys('lingate:{shared}:requests')).toSorted();
  expect(await claimed('a')).toBe('claimed');
  expect(await claimed('b')).toBe('claimed');
  for (const name of await redis.client.keys('lingate:{shared}:*')) expect([name, await redis.client.pttl(name)]).toEqual([name, -1]);
  expect(await remembered()).toEqual(['a', 'b']);
  real.step(2 * DAY_MS);
  await store.clock.look();
  expect(await claimed('c')).toBe('claimed');
  expect(await remembered()).toEqual(['c']);
  expect(await redis.client.zcard('lingate:{shared}:requests_by_team')).toBe(1);
});

test('a mark that cannot be read counts as none', async () => {
  await redis.client.set(CLOCK_KEY, 'yesterday');
  const store = await opened();
  expect(store.clock.step()).toBeUndefined();
  expect(await redis.client.get(CLOCK_KEY)).toBe(String(real.nowMs()));
});
