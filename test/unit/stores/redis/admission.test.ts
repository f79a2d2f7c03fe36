// Admissions in Redis: one call each, exact numbers, periods, and the window as a list.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { ROWS } from '../../../../src/stores/redis/row-formats.ts';
import { BOOKS } from '../../../../src/stores/redis/team-layout.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { CREDIT, QUOTA, TEAM, asking, furnish, functionCalls, stillClock } from './fixture.ts';

const keys = teamKeys(TEAM);
/** The number of slots whose ids are forgotten together (lua/layout.lua). */
const LOOKED_AT_ONCE = 64;
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
});

describe('an admission in Redis', () => {
  test('leaves, once it is settled, the head of the ids and its own state', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1'));
    await store.ledger.resolve(TEAM, 'r1', 'commit');
    expect(await client.hlen(keys.ids)).toBe(2);
    expect(await client.exists(keys.late)).toBe(0);
  });

  test('is one script call', async () => {
    await furnish(store);
    await client.config('RESETSTAT');
    await store.ledger.admit(asking('r1'));
    expect(await functionCalls(client)).toBe(1);
  });

  test('reads 0 for the last of a plan’s numbers if the record does not have them: one without them is written so', async () => {
    await furnish(store, CREDIT, 1_000_000);
    const packed = (await client.hgetBuffer(keys.team, 'p'))!;
    expect(packed.length).toBeLessThanOrEqual(ROWS.PLAN.bytes - 7);
    expect(await store.teams.findTeam(TEAM)).toMatchObject({ limits: { ...CREDIT, testAllowance: 0 } });
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted', reservation: { characters: 10 } });
    expect(await store.teams.standing(TEAM)).toMatchObject({ heldMicro: 10 * CREDIT.minorPerMillion, heldCharacters: 10 });
  });

  test('leaves the record compact, whatever numbers the plan has', async () => {
    await furnish(store, { ...QUOTA, testAllowance: Number.MAX_SAFE_INTEGER });
    await store.ledger.admit(asking('r1'));
    expect(await client.object('ENCODING', keys.team)).toBe('listpack');
  });

  test('with a lease longer than ids are remembered expires on its millisecond', async () => {
    await furnish(store);
    await store.ledger.admit(asking('r1'));
    clock.move(1);
    await store.ledger.admit(asking('r2'));
    clock.move(59_999);
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'expired' });
    expect(await store.ledger.resolve(TEAM, 'r2', 'commit')).toEqual({ kind: 'committed' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, heldCharacters: 0, openReservations: 0 });
  });

  test('releases any number of expired leases before it counts', async () => {
    const many = 2500;
    await furnish(store, { ...QUOTA, requestsPerSecond: 10_000, characterLimit: many });
    await Promise.all(Array.from({ length: many }, async (_, i) => store.ledger.admit(asking(`r${i}`, { characters: 1, leaseMs: 1000 }))));
    expect(await store.ledger.admit(asking('over', { characters: 1 }))).toMatchObject({ kind: 'quota_exceeded' });
    clock.move(1000);
    expect(await store.ledger.admit(asking('next', { characters: 1000 }))).toMatchObject({ kind: 'admitted' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ heldCharacters: 1000, openReservations: 1 });
    expect(await store.ledger.resolve(TEAM, 'r0', 'commit')).toEqual({ kind: 'expired' });
  });
});

describe('the window in Redis', () => {
  test('frees a slot after exactly 1,000 ms, and does not grow with past requests', async () => {
    await furnish(store, { ...QUOTA, requestsPerSecond: 2, characterLimit: 1e6 });
    for (let i = 0; i < 60; i++) {
      expect(await store.ledger.admit(asking(`a${i}`))).toMatchObject({ kind: 'admitted' });
      expect(await store.ledger.admit(asking(`b${i}`))).toMatchObject({ kind: 'admitted' });
      clock.move(999);
      expect(await store.ledger.admit(asking(`c${i}`))).toEqual({ kind: 'rate_limited', limit: 2, retryAfterMs: 1, fullForMs: 0 });
      clock.move(1);
    }
    expect(await client.llen(keys.places)).toBeLessThanOrEqual(2 * 15 + LOOKED_AT_ONCE);
  });
});

describe('a period in Redis', () => {
  test('begins after the last one ended, at the cost of one more call, once', async () => {
    await furnish(store, { ...QUOTA, period: 'PT10S', characterLimit: 10 });
    await store.ledger.admit(asking('r1'));
    expect(await store.ledger.admit(asking('r2'))).toMatchObject({ kind: 'quota_exceeded', periodEndMs: clock.nowMs() + 10_000 });
    clock.move(10_000);
    await client.config('RESETSTAT');
    const both = await Promise.all([store.ledger.admit(asking('r3')), store.ledger.admit(asking('r4'))]);
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['admitted', 'quota_exceeded']);
    // One for both, which asks for the period, and one for each with the answer.
    expect(await functionCalls(client)).toBe(3);
    expect(BOOKS.read((await client.hgetBuffer(keys.team, 'b'))!).number).toBe(2);
    await store.ledger.admit(asking('r5'));
    expect(await functionCalls(client)).toBe(4);
  });

  test('gets the charge of a reservation made before it ended, and does not expire', async () => {
    await furnish(store, { ...QUOTA, period: 'PT10S' });
    await store.ledger.admit(asking('r1'));
    clock.move(10_000);
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'committed' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
    const ended = keys.team.replace(/team$/, 'use:1');
    expect(await client.hget(ended, 'characters')).toBe('10');
    expect(await client.pttl(ended)).toBe(-1);
  });
});
