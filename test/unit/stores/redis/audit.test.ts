// The audit in Redis, whose entries are with their team and listed apart: after a process died, when listed late, when too old, and when broken.
import type { Redis } from 'ioredis';
import { beforeEach, expect, test } from 'vitest';
import type { Audited } from '../../../../src/domain/audit-entry.ts';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { RedisAuditLog } from '../../../../src/stores/redis/redis-audit-log.ts';
import { AUDIT_KEY, teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { CREDIT, furnish, KEY, snapshot, stillClock, TEAM } from './fixture.ts';

const BY: Audited = { actor: 'cli:ada@host', action: 'updateTeam' };
const ALL = { teamId: undefined, after: undefined, sinceMs: undefined, limit: 100 };
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;
let clock: ReturnType<typeof stillClock>;

beforeEach(async () => {
  ({ client } = redis);
  clock = stillClock();
  store = await redis.open({ clock });
  await furnish(store, CREDIT, 9_000_000);
});

const rename = async (name: string): Promise<unknown> => answered(await store.teams.updateTeam(TEAM, { name }, BY));
const names = async (teamId?: string): Promise<unknown[]> =>
  answered(await store.audit.page({ ...ALL, teamId })).map(({ after }) => after.name);

test('ids without an entry, left by changes that were interrupted or refused, are not listed, and are deleted after a minute', async () => {
  await rename('one');
  await store.teams.updateTeam('01JNOBODY00000000000000000', { name: 'x' }, BY);
  for (let i = 0; i < 40; i++) await store.teams.updateTeam(TEAM, { addMicro: -99_000_000 }, BY);
  await rename('two');
  expect(await names()).toEqual(['two', 'one']);
  expect(await client.zcard(AUDIT_KEY)).toBe(43);
  clock.move(60_000);
  expect(await names()).toEqual(['two', 'one']);
  expect(await client.zcard(AUDIT_KEY)).toBe(43);
  clock.move(1);
  expect(answered(await store.audit.page({ ...ALL, limit: 1 })).map(({ after }) => after.name)).toEqual(['two']);
  expect(await names()).toEqual(['two', 'one']);
  expect(await client.zcard(AUDIT_KEY)).toBe(2);
});

test('while the list cannot be written the only change is a revocation, which is listed once the team’s audit was read', async () => {
  await client.set(AUDIT_KEY, 'broken');
  const before = await snapshot(client);
  expect(await store.teams.updateTeam(TEAM, { name: 'x', addMicro: 5 }, BY)).toMatchObject({ kind: 'unavailable' });
  expect(await snapshot(client)).toEqual(before);
  expect(await store.teams.revokeKey(KEY, { ...BY, action: 'revokeKey' })).toMatchObject({ status: 'revoked' });
  await client.del(AUDIT_KEY);
  expect(await names()).toEqual([]);
  const own = answered(await store.audit.page({ ...ALL, teamId: TEAM }));
  expect(own).toMatchObject([{ action: 'revokeKey', keyId: KEY, atMs: clock.nowMs() }]);
  expect(answered(await store.audit.page(ALL))).toEqual(own);
});

test('if a team’s audit has the wrong type, the change fails before anything is written', async () => {
  await client.set(teamKeys(TEAM).audit, 'broken');
  const before = (await snapshot(client))[teamKeys(TEAM).team];
  expect(await store.teams.updateTeam(TEAM, { name: 'x' }, BY)).toMatchObject({ kind: 'unavailable' });
  expect(await store.teams.revokeKey(KEY, BY)).toMatchObject({ kind: 'unavailable' });
  expect((await snapshot(client))[teamKeys(TEAM).team]).toBe(before);
});

test('entries that are too old are deleted, of changed and unchanged teams, and others are kept', async () => {
  for (let i = 0; i < 700; i++) await rename(`name ${i}`);
  clock.move(10 * DAY_MS);
  await rename('later');
  clock.move(390 * DAY_MS + 1);
  // A change of the team deletes some of them.
  await rename('last');
  expect(await client.zcard(teamKeys(TEAM).audit)).toBe(702 - 64);
  const log = new RedisAuditLog({ link: linkOf(client), keptMs: 400 * DAY_MS, prunes: false });
  expect(await log.prune()).toBeUndefined();
  expect([await client.zcard(teamKeys(TEAM).audit), await client.zcard(AUDIT_KEY)]).toEqual([2, 2]);
  expect(await names()).toEqual(['last', 'later']);
  // A server whose clock jumps forward must not delete it.
  for (const key of [AUDIT_KEY, teamKeys(TEAM).audit]) expect(await client.pttl(key)).toBe(-1);
});

/** The parts of a link that pruning needs. */
function linkOf(connection: Redis): ConstructorParameters<typeof RedisAuditLog>[0]['link'] {
  const link = {
    redis: connection,
    ask: (command: (link: unknown) => Promise<unknown>) => command(link),
    now: async () => clock.nowMs(),
  };
  return link as unknown as ConstructorParameters<typeof RedisAuditLog>[0]['link'];
}
