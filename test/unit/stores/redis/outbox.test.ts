// Events in Redis: a charge that reaches no threshold costs no additional command, and events that were not listed are found.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventRules } from '../../../../src/domain/event-rules.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { EVENTS_KEY } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { PREPAID, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { TeamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedis } from '../../../support/redis.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';

let server: RedisServer;
let client: Redis;
let telling: Store;
let silent: Store;

beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.port, '127.0.0.1', { protocol: 2 });
  silent = await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: 5000 });
  telling = await openRedisStore({ url: server.url, log: SILENT, commandTimeoutMs: 5000, events: eventRules([80, 95, 100], [1000, 0]) });
});

afterAll(async () => {
  await telling.close();
  await silent.close();
  client.disconnect();
  await server.stop();
});

/** The commands, by name, that the server ran during `what`. */
async function commandsOf(what: () => Promise<unknown>): Promise<Record<string, number>> {
  await client.config('RESETSTAT');
  await what();
  const stats = await client.info('commandstats');
  const counts = [...stats.matchAll(/^cmdstat_([a-z|_]+):calls=(\d+)/gm)].map(([, name, calls]) => [name!, Number(calls)] as const);
  return Object.fromEntries(counts.filter(([name]) => !name.startsWith('config') && name !== 'info'));
}

async function charges(team: TeamUnderTest, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await team.commit((await team.reserve(1)).requestId);
}

test.each([
  ['quota', {}, 0],
  ['credit', PREPAID, 1_000_000_000_000],
])('a request on %s that reaches no threshold takes as many commands with events as without', async (_name, limits, balance) => {
  const [one, other] = [
    await teamUnderTest(promisedStore(silent), limits, balance),
    await teamUnderTest(promisedStore(telling), limits, balance),
  ];
  // A team's first request writes more.
  await charges(one, 2);
  await charges(other, 2);
  const without = await commandsOf(() => charges(one, 20));
  expect(await commandsOf(() => charges(other, 20))).toEqual(without);
  expect(without['fcall']).toBe(40);
});

test('events that a process has recorded and not listed are found by a search through the teams, and are due at once', async () => {
  const team = await teamUnderTest(promisedStore(telling));
  await client.del(EVENTS_KEY);
  const ids = answered(await telling.outbox.due(10)).map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([`${team.teamId}-created`, `${team.keyId}-created`]));
});

test('an operator’s change of a key is listed when the call returns', async () => {
  const team = await teamUnderTest(promisedStore(telling));
  const listed = async (): Promise<readonly (string | undefined)[]> => {
    const members = await client.zrange(EVENTS_KEY, '0', '-1');
    const kinds = members.filter((member) => member.startsWith(`${team.teamId} ${team.keyId}-`)).map((member) => member.split('-')[1]);
    return kinds.toSorted((one = '', other = '') => (one < other ? -1 : 1));
  };
  answered(await telling.teams.updateKey(team.keyId, { label: 'other' }));
  expect(await listed()).toEqual(['created', 'updated']);
  answered(await telling.teams.revokeKey(team.keyId));
  expect(await listed()).toEqual(['created', 'revoked', 'updated']);
});
