// When Redis fails: nothing runs twice, nothing overdue runs, and no caller waits.
import type { Redis } from 'ioredis';
import { beforeEach, describe, expect, test } from 'vitest';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { groupKey, OF_TEAM, slotsOf, tableOf } from '../../../../src/stores/redis/redis-keys.ts';
import { watchStalls } from '../../../evidence/faults/stall.ts';
import { report } from '../../../evidence/scorecard/report.ts';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { freePort } from '../../../support/free-port.ts';
import { emptyRedis, ownAllSlots, redisOfFile } from '../../../support/redis-of-file.ts';
import { DIGEST, KEY, TEAM, asking, furnish, functionCalls, snapshot } from './fixture.ts';

const { plainClient, redisServer } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store);
});

describe('a lost reply', () => {
  test.each(['redis', 'redis+cluster'])(
    'of %s means that the operation ran once, and repeating it by its id changes nothing',
    async (scheme) => {
      const serverPort = await freePort();
      const cutter = await startFaultProxy(serverPort);
      const cutNextReply = () => {
        let left = 1;
        return cutter.set({ kind: 'cut_reply', draw: () => left-- === 1 });
      };
      // The cluster announces the cutter's address to its clients.
      const clustered = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', '--cluster-announce-port', String(cutter.port)];
      await redisServer(['--port', String(serverPort), ...(scheme === 'redis' ? [] : clustered)]);
      const direct = plainClient(serverPort);
      if (scheme !== 'redis') await ownAllSlots(direct);
      const through = await redis.open({ url: `${scheme}://127.0.0.1:${cutter.port}` });
      try {
        await furnish(through);
        await through.ledger.admit(asking('warm'));
        await direct.config('RESETSTAT');
        await cutNextReply();
        expect(await through.ledger.admit(asking('r1'))).toEqual({ kind: 'unavailable', cause: 'closed' });
        await expect.poll(() => through.ping()).toBeUndefined();
        expect(await functionCalls(direct)).toBe(1);
        expect(await direct.llen(groupKey(TEAM) + slotsOf('team'))).toBe(2);
        expect(await through.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted', reservation: { requestId: 'r1' } });
        expect(await through.teams.standing(TEAM)).toMatchObject({ heldCharacters: 20, openReservations: 2 });
        await cutNextReply();
        expect(await through.ledger.resolve(TEAM, 'r1', 'commit')).toMatchObject({ kind: 'unavailable' });
        await expect.poll(() => through.ping()).toBeUndefined();
        // It is not open any more: it was committed by the first one.
        expect(await through.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'absent' });
        expect(await through.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, heldCharacters: 10 });
        const measured = 'an admission and a commit ran once, and so did their repetitions';
        report({ row: 5, figure: `lost replies of ${scheme}`, measured, counts: { faults: 2 } });
      } finally {
        await through.close();
        await cutter.close();
        direct.disconnect();
      }
    },
  );
});

describe('a frozen server', () => {
  test('is unavailable after the timeout, and when it thaws runs nothing of what it was sent', async () => {
    const brisk = await redis.open({ commandTimeoutMs: 150 });
    await brisk.ledger.admit(asking('before'));
    await client.config('RESETSTAT');
    const before = await snapshot(client);
    redis.server.process.kill('SIGSTOP');
    const stalls = watchStalls();
    const startedAtMs = performance.now();
    const answers = await Promise.all([brisk.ledger.admit(asking('r1')), brisk.ledger.resolve(TEAM, 'before', 'commit')]);
    const tookMs = performance.now() - startedAtMs;
    // Longer than the scripts' deadline on the server's clock, which continues.
    await expect.poll(() => performance.now() - startedAtMs).toBeGreaterThan(300);
    redis.server.process.kill('SIGCONT');
    expect(answers).toEqual([
      { kind: 'unavailable', cause: 'timeout' },
      { kind: 'unavailable', cause: 'timeout' },
    ]);
    stalls.stop();
    expect(tookMs).toBeLessThan(450 + stalls.longestMs());
    await expect.poll(() => functionCalls(client)).toBe(1);
    expect(await snapshot(client)).toEqual(before);
    await brisk.close();
  });
});

describe('a server that is down', () => {
  test('is unavailable at once, and works again when it is back without its scripts', async () => {
    const other = await redisServer();
    const away = await redis.open({ url: other.url });
    await furnish(away);
    await other.stop();
    await expect.poll(async () => (await away.ledger.admit(asking('r1'))).kind).toBe('unavailable');
    const startedAtMs = performance.now();
    expect(await away.ledger.admit(asking('r1'))).toEqual({ kind: 'unavailable', cause: 'closed' });
    expect(await away.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'unavailable', cause: 'closed' });
    expect(await away.keys.find(DIGEST)).toMatchObject({ kind: 'unavailable', cause: 'closed' });
    const advice = expect.stringMatching(/^the store redis:.* did not answer \(closed\): check that it is running/) as string;
    for (const call of [away.teams.findTeam(TEAM), away.teams.usage(TEAM), away.teams.listTeams()]) {
      expect(await call).toEqual({ kind: 'unavailable', cause: 'closed', advice });
    }
    // Six calls that waited for their deadline would take thirty seconds.
    expect(performance.now() - startedAtMs).toBeLessThan(20_000);
    // The probe's answer is for the log, so it says why no connection can be made.
    await expect.poll(async () => (await away.ping())?.cause).toBe('ECONNREFUSED');
    await redisServer(['--port', String(other.port)]);
    await expect.poll(() => away.ping()).toBeUndefined();
    await furnish(away);
    expect(await away.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    await away.close();
  });

  test('does not keep a store from closing', async () => {
    const other = await redisServer();
    const away = await redis.open({ url: other.url });
    await other.stop();
    await away.close();
    expect(await away.ledger.admit(asking('r1'))).toEqual({ kind: 'unavailable', cause: 'closed' });
  });
});

describe('a server that has lost the scripts', () => {
  test('is sent them again, and each operation runs once', async () => {
    await store.ledger.admit(asking('warm'));
    await client.script('FLUSH');
    const answers = await Promise.all(Array.from({ length: 20 }, async (_, i) => store.ledger.admit(asking(`r${i}`))));
    expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'admitted'));
    expect(await store.teams.standing(TEAM)).toMatchObject({ openReservations: 21, heldCharacters: 210 });
  });
});

describe('a full server', () => {
  test('admits nothing and changes nothing, but settles open reservations and revokes keys', async () => {
    await store.ledger.admit(asking('r1'));
    const before = await snapshot(client);
    await client.config('SET', 'maxmemory', '1');
    try {
      expect(await store.ledger.admit(asking('r2'))).toEqual({ kind: 'unavailable', cause: 'oom' });
      expect(await snapshot(client)).toEqual(before);
      expect(await store.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'committed' });
      expect(await store.teams.revokeKey(KEY)).toMatchObject({ status: 'revoked' });
    } finally {
      await client.config('SET', 'maxmemory', '0');
    }
    expect(await store.ledger.admit(asking('r3'))).toEqual({ kind: 'key_revoked' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, openReservations: 0 });
  });
});

test.each([OF_TEAM.days, tableOf('tag_counts')])(
  'a commit that fails by %s, however often, charges day and tag once it succeeds',
  async (damaged) => {
    const [days, tags] = [groupKey(TEAM) + OF_TEAM.days, groupKey(TEAM) + tableOf('tag_counts')];
    await store.ledger.admit({ ...asking('r1'), tag: { name: 'shop', distinctMax: 10 } });
    await client.set(groupKey(TEAM) + damaged, 'no hash');
    for (let sent = 0; sent < 2; sent++) expect(await store.ledger.resolve(TEAM, 'r1', 'commit', 4)).toMatchObject({ kind: 'unavailable' });
    await client.del(groupKey(TEAM) + damaged);
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit', 4)).toEqual({ kind: 'committed' });
    expect(await client.hvals(days)).toEqual(['1', '4']);
    expect(JSON.parse((await client.hget(tags, 'shop'))!)).toMatchObject({ characters: 4, requests: 1 });
  },
);

describe('what the functions remember of counters and windows', () => {
  test('is not believed after an operation that failed half-way, nor once others have written', async () => {
    const [hash, days, field] = [groupKey(TEAM), groupKey(TEAM) + OF_TEAM.days, `windows:key:${KEY}`];
    await store.teams.updateKey(KEY, { limits: { windows: 'characters=1000/month' } });
    await store.ledger.admit(asking('r1'));
    await client.set(days, 'no hash');
    // Fails where it counts the day, after all else.
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit', 4)).toMatchObject({ kind: 'unavailable' });
    await client.del(days);
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit', 4)).toEqual({ kind: 'committed' });
    const text = (await client.hget(hash, field))!;
    expect(JSON.parse(text)).toMatchObject({ tickets: 1, windows: [{ requests: 1, characters: 4 }] });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 4, heldCharacters: 0 });
    await client.hset(hash, field, text.replace('"characters":4', '"characters":995'));
    expect(await store.ledger.admit(asking('r2'))).toMatchObject({ kind: 'rate_limited' });
    await client.hset(hash, field, text);
    expect(await store.ledger.admit(asking('r3'))).toMatchObject({ kind: 'admitted' });
  });
});
