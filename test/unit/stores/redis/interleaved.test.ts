// What another gateway does in the middle of a change: a change counts nothing that is no longer so, and a deletion may be completed by it.
import { beforeEach, expect, test } from 'vitest';
import { groupKey } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { RedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { FIELD } from '../../../../src/stores/redis/team-fields.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { asking, furnish, KEY, TEAM } from './fixture.ts';

const redis = emptyRedis();
let store: RedisStore;
let other: PluginStore;

beforeEach(async () => {
  store = await openRedisStore({ url: redis.server.url, log: SILENT, commandTimeoutMs: 5000 });
  other = await redis.open();
  await furnish(other);
  return () => store.close();
});

/** Calls `work` once, after the first answer of a method of the link that `isMeant`. */
function afterFirst(method: 'ask' | 'compare', isMeant: (answer: unknown) => boolean, work: () => Promise<unknown>): void {
  const { link } = store;
  const call = link[method].bind(link) as (...args: unknown[]) => Promise<unknown>;
  let isDone = false;
  const interrupted = async (...args: unknown[]): Promise<unknown> => {
    const answer = await call(...args);
    if (!isDone && isMeant(answer)) {
      isDone = true;
      await work();
    }
    return answer;
  };
  Object.assign(link, { [method]: interrupted });
}

const hasOpen = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && FIELD.open('r1') in answer;

const second = {
  keyId: `${KEY.slice(0, -1)}1`,
  teamId: TEAM,
  digest: 'second',
  display: 'la_live_Ab3e',
  label: 'second',
  mode: 'live',
} as const;

test.each([
  ['given back', 'reserved by another key', KEY, second.keyId, 0],
  ['reserved', 'given back by another key', second.keyId, KEY, 10],
])(
  'a key that gets a limit holds what it has, although in the meantime it has %s as much as was %s',
  async (_, _other, first, next, held) => {
    await other.teams.createKey(second);
    const { ledger } = promisedStore(store);
    // Both have been charged before.
    for (const keyId of [KEY, second.keyId]) {
      await ledger.admit({ ...asking('r0'), keyId });
      await ledger.resolve(TEAM, 'r0', 'commit');
    }
    await ledger.admit({ ...asking('r1'), keyId: first });
    afterFirst('ask', hasOpen, async () => {
      await ledger.resolve(TEAM, 'r1', 'release');
      await ledger.admit({ ...asking('r2'), keyId: next });
    });
    await store.teams.updateKey(KEY, { limits: { characters: 1000 } });
    const text = await redis.client.hget(groupKey(TEAM), FIELD.ofPeriod(`key:${KEY}`));
    expect(JSON.parse(text!)).toMatchObject({ used: 10, held });
  },
);

test('a deletion that another gateway completes is one', async () => {
  afterFirst(
    'compare',
    (answer) => answer === 'changed',
    () => other.teams.deleteTeam(TEAM, { keepUsage: false }),
  );
  expect(await store.teams.deleteTeam(TEAM, { keepUsage: false })).toBe(true);
  expect(await redis.client.exists(groupKey(TEAM))).toBe(0);
});
