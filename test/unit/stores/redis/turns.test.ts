// Operations of one tick in Redis: they share one call, and each is answered as if it were alone.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { LedgerTurns } from '../../../../src/stores/redis/ledger-turns.ts';
import { groupKey, slotsOf } from '../../../../src/stores/redis/redis-keys.ts';
import { ServerClocks } from '../../../../src/stores/redis/server-clocks.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { CREDIT, QUOTA, TEAM, asking, furnish, functionCalls, snapshot } from './fixture.ts';

const OTHER = '01JTEAM0000000000000000001';
const OTHER_KEY = '01JKEY00000000000000000001';
const { clusterOfOne } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store, { ...QUOTA, requestsPerSecond: 1000 });
  await furnish(store, { ...CREDIT, requestsPerSecond: 1000 }, 1e9, OTHER, OTHER_KEY);
  // The first call learns the server's time.
  await store.ledger.admit(asking('warm', { characters: 1 }));
  await client.config('RESETSTAT');
});

const ofOther = (requestId: string) => asking(requestId, { teamId: OTHER, keyId: OTHER_KEY });

describe('a batch of operations', () => {
  test('of any teams is one call on a server, and each gets its own answer', async () => {
    const { ledger } = store;
    const answers = await Promise.all([
      ledger.admit(asking('r1')),
      ledger.admit(ofOther('r2')),
      ledger.resolve(TEAM, 'warm', 'commit'),
      ledger.admit(asking('r3', { characters: 1001 })),
      ledger.admit(asking('r4', { keyId: 'nobody' })),
      ledger.admit({ ...asking('r5'), teamId: '01JTEAM0000000000000000009' }),
      ledger.resolve(OTHER, 'r2', 'release'),
      ledger.resolve(TEAM, 'r9', 'commit'),
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual([
      'admitted',
      'admitted',
      'committed',
      'text_too_long',
      'key_unknown',
      'key_unknown',
      'released',
      'absent',
    ]);
    expect(await functionCalls(client)).toBe(1);
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 1, heldCharacters: 10, openReservations: 1 });
    expect(await store.teams.standing(OTHER)).toMatchObject({ openReservations: 0, heldMicro: 0 });
  });

  test('with partial commits charges each its own part, whatever its team and position', async () => {
    const { ledger } = store;
    for (const id of ['a', 'b', 'c']) await ledger.admit(asking(id));
    for (const id of ['d', 'e']) await ledger.admit(ofOther(id));
    await client.config('RESETSTAT');
    const answers = await Promise.all([
      ledger.resolve(TEAM, 'a', 'commit', 3),
      ledger.resolve(OTHER, 'd', 'commit'),
      ledger.admit(asking('r3', { characters: 7 })),
      ledger.resolve(TEAM, 'b', 'commit'),
      ledger.resolve(OTHER, 'e', 'commit', 4),
      ledger.resolve(TEAM, 'c', 'release'),
      ledger.resolve(TEAM, 'warm', 'commit', 0),
    ]);
    const kinds = ['committed', 'committed', 'admitted', 'committed', 'committed', 'released', 'committed'];
    expect(answers.map(({ kind }) => kind)).toEqual(kinds);
    expect(await functionCalls(client)).toBe(1);
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 13, heldCharacters: 7, openReservations: 1 });
    expect(await store.teams.standing(OTHER)).toMatchObject({ usedCharacters: 14, heldMicro: 0, openReservations: 0 });
  });

  test('may have an id several times, which counts once', async () => {
    const { ledger } = store;
    const answers = await Promise.all([
      ledger.admit(asking('r1')),
      ledger.admit(asking('r1')),
      ledger.resolve(TEAM, 'r1', 'commit'),
      ledger.resolve(TEAM, 'r1', 'release'),
    ]);
    expect(answers.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'committed', 'absent']);
    expect(await client.llen(groupKey(TEAM) + slotsOf('team'))).toBe(2);
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, heldCharacters: 1, openReservations: 1 });
  });

  test('that is too large is sent as several calls, none of which blocks the server for long', async () => {
    answered(await store.teams.updateTeam(TEAM, { plan: { name: 'p', limits: { ...QUOTA, requestsPerSecond: 10_000 } } }));
    await client.config('RESETSTAT');
    const answers = await Promise.all(
      Array.from({ length: 300 }, async (_, i) => store.ledger.admit(i % 2 === 0 ? asking(`r${i}`, { characters: 1 }) : ofOther(`r${i}`))),
    );
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['admitted']));
    expect(await functionCalls(client)).toBe(4);
    expect(await store.teams.standing(TEAM)).toMatchObject({ openReservations: 151 });
    expect(await store.teams.standing(OTHER)).toMatchObject({ openReservations: 150 });
  });

  test('with a team whose data are broken fails only for that team', async () => {
    await client.hset(groupKey(OTHER), 'team', 'no JSON');
    const [one, other] = await Promise.all([store.ledger.admit(asking('r1')), store.ledger.admit(ofOther('r2'))]);
    expect(one).toMatchObject({ kind: 'admitted' });
    expect(other).toEqual({ kind: 'unavailable', cause: 'refused' });
  });

  test('on a full server admits nothing and settles everything', async () => {
    await store.ledger.admit(ofOther('open'));
    await client.config('SET', 'maxmemory', '1');
    const before = await snapshot(client);
    try {
      const { ledger } = store;
      expect(await Promise.all([ledger.admit(asking('r1')), ledger.admit(ofOther('r2'))])).toEqual([
        { kind: 'unavailable', cause: 'oom' },
        { kind: 'unavailable', cause: 'oom' },
      ]);
      expect(await snapshot(client)).toEqual(before);
      const mixed = await Promise.all([
        ledger.resolve(OTHER, 'open', 'commit'),
        ledger.admit(asking('r3')),
        ledger.resolve(TEAM, 'warm', 'commit'),
        ledger.admit(ofOther('r4')),
      ]);
      expect(mixed.map(({ kind }) => kind)).toEqual(['committed', 'unavailable', 'committed', 'unavailable']);
    } finally {
      await client.config('SET', 'maxmemory', '0');
    }
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 1, openReservations: 0 });
    expect(await store.teams.standing(OTHER)).toMatchObject({ openReservations: 0 });
  });

  test('is one call per team in a cluster, where teams are in different slots', async () => {
    const cluster = await clusterOfOne();
    const through = await redis.open({ url: cluster.url });
    await furnish(through);
    await furnish(through, QUOTA, 0, OTHER, OTHER_KEY);
    await through.ledger.admit(asking('warm'));
    await cluster.client.config('RESETSTAT');
    const { ledger } = through;
    const answers = await Promise.all([ledger.admit(asking('r1')), ledger.admit(ofOther('r2')), ledger.resolve(TEAM, 'warm', 'commit')]);
    expect(answers.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'committed']);
    expect(await functionCalls(cluster.client)).toBe(2);
  });

  test('that was called before the store is closed is sent before it closes', async () => {
    const another = await redis.open();
    await another.ledger.admit(asking('r1'));
    const verdict = another.ledger.resolve(TEAM, 'r1', 'commit');
    await another.close();
    expect(await verdict).toEqual({ kind: 'committed' });
    expect(await another.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'unavailable', cause: 'closed' });
  });
});

test('ignores a reply of a server that has lost the team meanwhile', async () => {
  let node = 'old';
  let reply: (value: unknown) => void = () => undefined;
  const turns = new LedgerTurns({
    run: () => new Promise((resolve) => (reply = resolve)),
    time: new ServerClocks(),
    nodeOf: () => node,
    timeoutMs: 1000,
    causeOf: () => 'closed',
    clustered: true,
    catchUp: async () => undefined,
  });
  const answer = new Promise((resolve, reject) => {
    turns.resolve({ teamId: TEAM, requestId: 'r1', verdict: 'commit', answered: resolve, failed: reject });
  });
  turns.flush();
  node = 'new';
  reply(JSON.stringify({ now: Date.now(), answers: [[{ kind: 'committed' }]] }));
  expect(await answer).toEqual({ kind: 'unavailable', cause: 'moved' });
});
