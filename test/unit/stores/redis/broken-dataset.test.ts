// Keys of the wrong type: operations fail on them before they write anything, so nothing is ever half written.
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StoreError } from '../../../../src/domain/store-error.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { CREDIT, KEY, TEAM, asking, furnish, memoryLog, plainClient, redisServer, snapshot } from './fixture.ts';

let server: RedisServer;
let client: Redis;
let store: Store;
const log = memoryLog();

beforeAll(async () => {
  server = await redisServer();
  client = plainClient(server.port);
});

afterAll(() => client.disconnect());

beforeEach(async () => {
  await client.flushall();
  store = await openRedisStore({ url: server.url, log });
  await furnish(store);
  return () => store.close();
});

describe('a broken dataset', () => {
  const keys = teamKeys(TEAM);
  const cases = [
    {
      name: 'team',
      key: keys.team,
      operations: ['admit', 'release', 'commit', 'update', 'standing', 'createKey', 'revokeKey', 'createGlossary'],
    },
    { name: 'window', key: keys.window, operations: ['admit'] },
    { name: 'open', key: keys.open, operations: ['admit', 'release', 'commit', 'update', 'standing'] },
    { name: 'due', key: keys.due, operations: ['admit', 'release', 'commit', 'update', 'standing'] },
    { name: 'seen', key: keys.seen, operations: ['admit', 'release', 'commit', 'update', 'standing'] },
    { name: 'pairs', key: keys.pairs, operations: ['admit', 'createGlossary', 'removeGlossary'] },
    { name: 'glossaries', key: keys.glossaries, operations: ['createGlossary', 'removeGlossary', 'glossaries'] },
    { name: 'use', key: keys.team.replace(/team$/, 'use:1'), operations: ['admit', 'commit', 'standing'] },
    { name: 'keys', key: keys.keys, operations: ['standing', 'createKey', 'revokeKey'] },
  ] as const;
  const glossary = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  const newKey = { keyId: 'other', teamId: TEAM, digest: 'other', display: 'la_live_xxxx', label: '', mode: 'live' } as const;
  const operations = {
    admit: () => store.ledger.admit(asking('r2', { glossary })),
    release: () => store.ledger.resolve(TEAM, 'r1', 'release'),
    commit: () => store.ledger.resolve(TEAM, 'r1', 'commit'),
    update: () => store.teams.updateTeam(TEAM, { addMicro: 1, plan: { name: 'credit', limits: { ...CREDIT, period: 'P1D' } } }),
    standing: () => store.teams.standing(TEAM),
    createKey: () => store.teams.createKey(newKey),
    revokeKey: () => store.teams.revokeKey(KEY),
    createGlossary: () => store.glossaries.create({ ...glossary, teamId: TEAM, name: 'n', entries: { a: 'b' } }),
    removeGlossary: () => store.glossaries.remove(TEAM, 'G1'),
    glossaries: () => store.glossaries.list(TEAM),
  };

  test.each(cases)(
    'with a $name of the wrong type makes operations fail without changing anything',
    async ({ key, operations: failing }) => {
      await client.hset(keys.pairs, 'G1', 'EN|DE');
      await store.ledger.admit(asking('r1'));
      await client.del(key);
      await client.set(key, 'of the wrong type');
      const before = await snapshot(client);
      for (const name of failing) {
        const answer = await Promise.resolve(operations[name]()).catch((error: unknown) => error);
        const refused = answer instanceof StoreError || (answer as { cause?: string }).cause === 'refused';
        expect({ name, refused, dataset: await snapshot(client) }).toEqual({ name, refused: true, dataset: before });
      }
    },
  );
});
