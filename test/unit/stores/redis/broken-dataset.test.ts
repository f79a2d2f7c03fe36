// Keys of the wrong type: operations on them fail before they write anything, so nothing is ever half written.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { isUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { groupKey, OF_TEAM, slotsOf } from '../../../../src/stores/redis/redis-keys.ts';
import { singleGlossary } from '../../../../src/testing/store/dictionaries-under-test.ts';
import { emptyRedis } from '../../../support/redis-of-file.ts';
import { CREDIT, KEY, TEAM, asking, furnish, snapshot } from './fixture.ts';

const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

describe('a broken dataset', () => {
  beforeEach(async () => {
    ({ client } = redis);
    store = await redis.open({});
    await furnish(store);
  });

  const base = groupKey(TEAM);
  const cases = [
    {
      name: 'team',
      key: base,
      operations: [
        'admit',
        'plain',
        'release',
        'commit',
        'update',
        'standing',
        'usage',
        'createKey',
        'revokeKey',
        'createGlossary',
        'days',
        'periods',
      ],
    },
    { name: 'list of slots', key: base + slotsOf('team'), operations: ['admit', 'plain'] },
    { name: 'totals', key: `${base}:totals`, operations: ['createGlossary', 'changeGlossary', 'removeGlossary'] },
    { name: 'glossaries', key: `${base}:glossaries`, operations: ['createGlossary', 'changeGlossary', 'removeGlossary', 'glossaries'] },
    { name: 'days', key: base + OF_TEAM.days, operations: ['commit', 'days', 'periods'] },
    { name: 'closed periods', key: base + OF_TEAM.periods, operations: ['periods'] },
  ] as const;
  const glossary = { glossaryId: 'G1', sourceLang: 'EN', targetLang: 'DE' };
  const newKey = { keyId: 'other', teamId: TEAM, digest: 'other', display: 'la_live_xxxx', label: '', mode: 'live' } as const;
  const operations = {
    admit: () => store.ledger.admit(asking('r2', { glossary })),
    plain: () => store.ledger.admit(asking('r3')),
    release: () => store.ledger.resolve(TEAM, 'r1', 'release'),
    commit: () => store.ledger.resolve(TEAM, 'r1', 'commit'),
    update: () => store.teams.updateTeam(TEAM, { addMicro: 1, plan: { name: 'credit', limits: { ...CREDIT, period: 'P1D' } } }),
    standing: () => store.teams.standing(TEAM),
    usage: () => store.teams.usage(TEAM),
    days: () => store.history.days(TEAM, { from: 0, to: 1_000_000 }),
    periods: () => store.history.periods(TEAM),
    createKey: () => store.teams.createKey(newKey),
    revokeKey: () => store.teams.revokeKey(KEY),
    createGlossary: () =>
      store.glossaries.create(singleGlossary({ ...glossary, glossaryId: 'G2', teamId: TEAM, name: 'n', entries: { a: 'b' } })),
    changeGlossary: () => store.glossaries.change({ glossaryId: 'G1', teamId: TEAM, name: 'n', revision: 1, dictionaries: [] }),
    removeGlossary: () => store.glossaries.remove(TEAM, 'G1'),
    glossaries: () => store.glossaries.list(TEAM),
  };

  test.each(cases)(
    'with its $name of the wrong type makes operations fail without changing anything',
    async ({ key, operations: failing }) => {
      await client.hset(`${base}:pairs`, 'G1', 'EN|DE:G1');
      await store.ledger.admit(asking('r1'));
      await client.del(key);
      await client.set(key, 'of the wrong type');
      const before = await snapshot(client);
      for (const name of failing) {
        const answer = await operations[name]();
        const refused = isUnavailable(answer) && answer.cause === 'refused';
        expect({ name, refused, dataset: await snapshot(client) }).toEqual({ name, refused: true, dataset: before });
      }
    },
  );
});
