// Teams are found by a part of their names, in the order of their creation, however many blocks the index has.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Redis } from 'ioredis';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { SEARCHED_KEY, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { freshKey, newId } from '../../../../src/testing/store/team-under-test.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { redisOfFile } from '../../../support/redis-of-file.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { QUOTA } from './fixture.ts';

const { plainClient, redisServer } = redisOfFile();

const TEAMS = 1200;
let store: Store;
let client: Redis;
let server: RedisServer;
const ids: string[] = Array.from({ length: TEAMS }, newId);

beforeAll(async () => {
  server = await redisServer();
  client = plainClient(server.port);
  store = await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: 5000 });
  for (const [number, teamId] of ids.entries()) {
    // Names of different lengths, so that they begin at any position in a block.
    answered(
      await store.teams.createTeam({
        teamId,
        name: `Team ${number} of ${'m'.repeat(number % 70)}Many`,
        plan: 'p',
        limits: QUOTA,
        balanceMicro: 0,
      }),
    );
  }
});

afterAll(() => store.close());

const found = async (search: string, after?: string, limit = TEAMS): Promise<string[]> =>
  answered(await store.teams.pageTeams({ after, limit, search })).map(({ teamId }) => teamId);

describe('a search over many teams', () => {
  test('finds all of them in order, page by page', async () => {
    const seen: string[] = [];
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = await found('MANY', after, 7 * 31);
      seen.push(...page);
      if (page.length === 0) break;
    }
    expect(seen).toEqual(ids);
  });

  test('finds one by its name, its id or a part of them, and nothing across two lines', async () => {
    for (const number of [0, 249, 250, 777, TEAMS - 1]) {
      expect(await found(`team ${number} OF`)).toEqual([ids[number]]);
      expect(await found(ids[number]!.toLowerCase())).toEqual([ids[number]]);
    }
    for (const search of ['nobody', `any\n1`, `0 ${ids[0]}`, `${ids[0]} team`]) expect(await found(search)).toEqual([]);
  });

  test('finds a renamed team only by its new name', async () => {
    answered(await store.teams.updateTeam(ids[300]!, { name: 'Renamed\nin two lines' }));
    expect(await found('renamed')).toEqual([ids[300]]);
    expect(await found('team 300 of')).toEqual([]);
    answered(await store.teams.updateTeam(ids[300]!, { name: 'Team 300 of Many' }));
    expect(await found('team 300 of')).toEqual([ids[300]]);
    expect(await client.hget(SEARCHED_KEY, 'teams')).toBe(String(TEAMS));
  });

  test('finds a team that two gateways rename at once by the name that it then has, and by no other', async () => {
    const proxy = await startFaultProxy(server.port);
    const slow = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}`, log: SILENT, commandTimeoutMs: 5000 });
    const teamId = ids[100]!;
    // The slow gateway changes the team first, but learns of it, and changes the index, after the other one.
    await proxy.set({ kind: 'delay', delayMs: 200 });
    const first = slow.teams.updateTeam(teamId, { name: 'Renamed first' });
    await expect.poll(() => client.hget(teamKeys(teamId).team, 'name')).toBe('Renamed first');
    answered(await store.teams.updateTeam(teamId, { name: 'Renamed second' }));
    answered(await first);
    expect(answered(await store.teams.findTeam(teamId))).toMatchObject({ name: 'Renamed second' });
    expect(await found('renamed second')).toEqual([teamId]);
    expect(await found('renamed first')).toEqual([]);
    await slow.close();
    await proxy.close();
  });

  test('has no name of a team that is deleted while it is renamed', async () => {
    const other = await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: 5000 });
    for (let round = 0; round < 10; round++) {
      const teamId = newId();
      answered(await store.teams.createTeam({ teamId, name: 'Soon gone', plan: 'p', limits: QUOTA, balanceMicro: 0 }));
      const renamed = other.teams.updateTeam(teamId, { name: 'Soon gone, renamed' });
      await Promise.all([renamed, store.teams.deleteTeam(teamId, { keepUsage: false })]);
      expect((await client.hvals(SEARCHED_KEY)).some((lines) => lines.includes(teamId))).toBe(false);
    }
    await other.close();
  });

  test('restores lost names at their positions', async () => {
    await client.del(SEARCHED_KEY);
    expect(await found('team 7')).toEqual(ids.filter((_, number) => String(number).startsWith('7')));
  });
});

test('keys that begin alike are found in every batch of teams', async () => {
  const display = 'la_live_Ab3d';
  const owners = [0, 249, 250, 251, 777, TEAMS - 1].map((number) => ids[number]!);
  for (const teamId of owners) answered(await store.teams.createKey({ ...freshKey(teamId), display }));
  const keys = answered(await store.teams.findKeys({ display }));
  expect(keys.map(({ teamId }) => teamId)).toEqual(owners);
});
