// The clocks of a file and of Redis: a step ends and deletes nothing, every process judges it alike, and an operator can accept it.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/domain/period.ts';
import { JudgedClock } from '../../../src/domain/clock-judge.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../src/ports/store.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { ServerClocks } from '../../../src/stores/redis/server-clocks.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { emptyRedis } from '../../support/redis-of-file.ts';
import { SILENT } from '../../support/silent-log.ts';
import { SteppingClock } from '../../support/stepping-clock.ts';
import { sqliteFile } from './sqlite/sqlite-file.ts';
import type { SqliteFile } from './sqlite/sqlite-file.ts';

const redis = emptyRedis();
let real: MovableClock;
let machine: SteppingClock;
let file: SqliteFile;
let lines: string[];
const closing: Store[] = [];

beforeEach(() => {
  real = new MovableClock();
  machine = new SteppingClock(real);
  file = sqliteFile();
  lines = [];
});

afterEach(async () => {
  await Promise.all(closing.splice(0).map((store) => store.close()));
  await file.remove();
});

const KINDS = {
  sqlite: () => openSqliteStore({ path: file.path, log, clock: new JudgedClock(machine), durability: 'normal', commandTimeoutMs: 5000 }),
  redis: () => openRedisStore({ url: redis.server.url, log, clock: new JudgedClock(machine), commandTimeoutMs: 5000, maintainEveryMs: 20 }),
};
const log = { ...SILENT, warn: (message: string) => void (message.startsWith('the clock') && lines.push(message)) };

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('%s', (kind) => {
  async function opened(): Promise<Store> {
    const store = await KINDS[kind]();
    closing.push(store);
    return store;
  }
  const steps = (...stores: Store[]) => stores.map(({ clock }) => clock.step()?.byMs);

  test.each([500, 35, -500])('%i days of difference for some seconds change nothing', async (days) => {
    const store = await opened();
    await store.clock.look();
    const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
    const open = await team.reserve(40);
    machine.offByMs = days * DAY_MS;
    await store.clock.look();
    await team.commit(open.requestId);
    expect(steps(store)).toEqual([days * DAY_MS]);
    real.step(2500);
    machine.offByMs = 0;
    await store.clock.look();
    expect(steps(store)).toEqual([undefined]);
    expect(await team.usage()).toMatchObject({ characters: 40 });
    const periods = answered(await store.history.periods(team.teamId))!;
    expect(periods.map(({ startMs, closed }) => [startMs, closed])).toEqual([[real.nowMs() - 2500, false]]);
  });

  test('a process that starts is judged by the latest time: behind it is wrong, ahead of it is believed and mentioned', async () => {
    const first = await opened();
    expect(await first.clock.look()).toBe(real.nowMs());
    machine.offByMs = -2 * DAY_MS;
    const behind = await opened();
    expect(steps(behind)).toEqual([-2 * DAY_MS]);
    expect(lines).toEqual([]);
    machine.offByMs = 2 * DAY_MS;
    const ahead = await opened();
    expect(steps(ahead)).toEqual([undefined]);
    expect(lines).toEqual([expect.stringContaining('the clock is 2 days beyond the latest time of the store')]);
  });

  test.each([500, -500])(
    'one that is accepted is believed by every process at its next look, and by those that start (%i days)',
    async (days) => {
      const [store, other] = [await opened(), await opened()];
      await store.clock.look();
      machine.offByMs = days * DAY_MS;
      for (const one of [store, other]) await one.clock.look();
      expect(steps(store, other)).toEqual([days * DAY_MS, days * DAY_MS]);
      const accepting = await opened();
      expect(await accepting.clock.accept()).toEqual({ kind: 'accepted', nowMs: machine.wallMs(), steppedMs: days * DAY_MS });
      for (const one of [store, other]) await one.clock.look();
      expect(steps(store, other, await opened())).toEqual([undefined, undefined, undefined]);
    },
  );

  test.each([2, -2])('a process that starts beside one that finds the clock wrong does not believe it (%i days)', async (days) => {
    const running = await opened();
    await running.clock.look();
    const team = await teamUnderTest(promisedStore(running), { characterLimit: 100 });
    const open = await team.reserve(40);
    machine.offByMs = days * DAY_MS;
    await running.clock.look();
    real.step(30_000);
    const started = await opened();
    expect(steps(started)).toEqual([days * DAY_MS]);
    expect(lines).toEqual([]);
    // Neither accepts the clock for the other, nor ends anything.
    for (const one of [started, running, started, running]) await one.clock.look();
    expect(steps(running, started)).toEqual([days * DAY_MS, days * DAY_MS]);
    expect(answered(await started.teams.usage(team.teamId))).toMatchObject({ characters: 0 });
    expect(await team.commit(open.requestId)).toEqual({ kind: 'committed' });
    machine.offByMs = 0;
    for (const one of [started, running]) await one.clock.look();
    expect(steps(running, started, await opened())).toEqual([undefined, undefined, undefined]);
    // What is over is, after a minute, not held against a clock that is ahead after a rest.
    real.step(60_000);
    await running.clock.look();
    machine.offByMs = 2 * DAY_MS;
    expect(steps(await opened())).toEqual([undefined]);
  });

  test('one that starts behind and is set right is believed, however long nobody served', async () => {
    const first = await opened();
    await first.clock.look();
    closing.splice(closing.indexOf(first), 1);
    await first.close();
    real.step(5 * 3_600_000);
    machine.offByMs = -500 * DAY_MS;
    const behind = await opened();
    expect(steps(behind)).not.toEqual([undefined]);
    machine.offByMs = 0;
    await behind.clock.look();
    expect(steps(behind)).toEqual([undefined]);
    expect(await behind.clock.look()).toBe(real.nowMs());
  });

  test('the latest time is written once a minute, also while the clock is wrong: as it would be', async () => {
    const store = await opened();
    const startMs = real.nowMs();
    expect(await store.clock.look()).toBe(startMs);
    real.step(59_999);
    expect(await store.clock.look()).toBe(startMs);
    real.step(1);
    expect(await store.clock.look()).toBe(startMs + 60_000);
    machine.offByMs = 500 * DAY_MS;
    real.step(120_000);
    expect(await store.clock.look()).toBe(startMs + 180_000);
    expect(steps(store)).toEqual([500 * DAY_MS]);
  });
});

test('requests that take effect once are forgotten by the time that is believed, never by the clock of a server', async () => {
  const store = await KINDS.redis();
  closing.push(store);
  await store.clock.look();
  const claim = { request: 'POST', recordId: 'R', teamId: 'T', holder: 'H', leaseMs: 1000 };
  const claimed = async (id: string) => answered(await store.idempotency.claim({ ...claim, id })).kind;
  const remembered = async () => (await redis.client.hkeys('lingate:{shared}:requests')).toSorted();
  expect([await claimed('a'), await claimed('b')]).toEqual(['claimed', 'claimed']);
  for (const name of await redis.client.keys('lingate:{shared}:*')) expect([name, await redis.client.pttl(name)]).toEqual([name, -1]);
  expect(await remembered()).toEqual(['a', 'b']);
  real.step(2 * DAY_MS);
  await store.clock.look();
  expect(await claimed('c')).toBe('claimed');
  expect(await store.idempotency.sweep()).toBeUndefined();
  expect(await remembered()).toEqual(['c']);
  expect(await redis.client.zcard('lingate:{shared}:requests_by_end')).toBe(1);
});

test('what is in flight in a file has as long as it had before the clock was set forward', async () => {
  const store = await KINDS.sqlite();
  closing.push(store);
  const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  const [one, other] = [await team.reserve(40), await team.reserve(10)];
  const leaseMs = one.leaseUntilMs - real.nowMs();
  for (const offByMs of [600_000, 1_200_000]) {
    real.step(1000);
    machine.offByMs = offByMs;
    await store.clock.look();
  }
  expect(await team.standing()).toMatchObject({ heldCharacters: 50 });
  expect(await team.commit(one.requestId)).toEqual({ kind: 'committed' });
  real.step(leaseMs);
  expect(await team.standing()).toMatchObject({ usedCharacters: 40, heldCharacters: 0 });
  expect(await team.commit(other.requestId)).toEqual({ kind: 'absent' });
});

test('a server of Redis whose clock is behind the latest time is corrected, until it is accepted', async () => {
  const open = async () => {
    const store = await openRedisStore({ url: redis.server.url, log });
    closing.push(store);
    return store;
  };
  const latestMs = Date.now() + 2 * DAY_MS;
  const put = [{ table: 'clock', id: 'latest', value: String(latestMs) } as const];
  answered(await (await open()).records.change('shared', [], () => ({ result: true, put })));
  const store = await open();
  expect(store.clock.step()?.byMs).toBeCloseTo(-2 * DAY_MS, -5);
  const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  const held = await team.reserve(40);
  expect(held.leaseUntilMs).toBeGreaterThan(latestMs);
  expect(await team.commit(held.requestId)).toEqual({ kind: 'committed' });
  expect(await store.clock.accept()).toMatchObject({ kind: 'accepted', steppedMs: expect.closeTo(-2 * DAY_MS, -5) as number });
  expect(store.clock.step()).toBeUndefined();
});

describe('the servers of a cluster', () => {
  const reply = (clocks: ServerClocks, server: string, offByMs = 0): void =>
    clocks.learn(server, performance.now(), performance.now(), Math.floor(1e12 + performance.now()) + offByMs);

  test('a master that takes over with another time is wrong, and corrected', () => {
    const clocks = new ServerClocks();
    reply(clocks, 'a');
    reply(clocks, 'b', 500 * DAY_MS);
    expect(clocks.step()).toEqual({ byMs: expect.closeTo(500 * DAY_MS, -2) as number, server: 'b' });
    expect(clocks.clockFor('a')).toEqual({});
    expect(clocks.clockFor('b').correction).toBeCloseTo(-500 * DAY_MS, -2);
    expect(clocks.at('b', performance.now())).toBeCloseTo(1e12 + performance.now(), -2);
    expect(clocks.nowMs()).toBeCloseTo(1e12 + performance.now(), -2);
  });

  test.each([
    ['the wrong one first', [30 * DAY_MS, 0]],
    ['the right one first', [0, 30 * DAY_MS]],
  ])('at the start the one nearest to the latest time is believed, whoever answers first: %s', (_order, [one, other]) => {
    const clocks = new ServerClocks();
    reply(clocks, 'one', one);
    reply(clocks, 'other', other);
    clocks.begin({ latestMs: Math.floor(1e12 + performance.now()) - 1000, wrongMs: undefined });
    expect(clocks.step()).toEqual({ byMs: expect.closeTo(30 * DAY_MS, -2) as number, server: one === 0 ? 'other' : 'one' });
  });

  test('one that is no master any more is judged no more', () => {
    const clocks = new ServerClocks();
    reply(clocks, 'a');
    reply(clocks, 'b', 500 * DAY_MS);
    clocks.keep(['a']);
    expect(clocks.step()).toBeUndefined();
    reply(clocks, 'b', 500 * DAY_MS);
    expect(clocks.step()?.server).toBe('b');
  });

  test('after a lost connection a server is unknown, and then judged by what was right before', () => {
    const clocks = new ServerClocks();
    reply(clocks, 'a');
    clocks.forget('a');
    expect(clocks.at('a', performance.now())).toBe(0);
    reply(clocks, 'a', -500 * DAY_MS);
    expect(clocks.step()?.byMs).toBeCloseTo(-500 * DAY_MS, -2);
  });
});
