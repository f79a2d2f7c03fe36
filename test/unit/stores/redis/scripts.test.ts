// The scripts themselves, called with less than they need, too late, and with time made known only by their replies.
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../../../../src/ports/store.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { scriptText } from '../../../../src/stores/redis/scripts.ts';
import type { ScriptName } from '../../../../src/stores/redis/scripts.ts';
import { StoreTime } from '../../../../src/stores/redis/store-time.ts';
import type { RedisServer } from '../../../support/redis.ts';
import { KEY, QUOTA, TEAM, asking, furnish, memoryLog, plainClient, redisServer, scriptRuns, snapshot } from './fixture.ts';

const { team, open, due, seen, window, glossaries, pairs, keys } = teamKeys(TEAM);
const NEVER_MS = '9999999999999';
const PAST_MS = '1';

const ADMISSION = `admit r2 ${KEY} 5 rs 60000 - -`;

/** Calls that write when they are complete. */
const CALLS: readonly { name: ScriptName; keys: readonly string[]; args: readonly string[] }[] = [
  { name: 'ledger', keys: [team, open, due, seen, window, pairs], args: ['1', ADMISSION] },
  { name: 'ledger', keys: [team, open, due, seen, window, pairs], args: ['1', 'commit r1'] },
  { name: 'ledger', keys: [team, open, due, seen, window, pairs], args: ['3', ADMISSION, 'commit r1', 'release r3'] },
  { name: 'create_team', keys: [`${team}2`, open, due, seen, keys], args: ['4', 'name', 'n', 'period', 'P1M'] },
  { name: 'update_team', keys: [team, open, due, seen, keys], args: ['5', '2', 'name', 'other'] },
  { name: 'create_key', keys: [team, keys], args: ['other', '{}'] },
  { name: 'revoke_key', keys: [team, keys], args: [KEY] },
  { name: 'create_glossary', keys: [team, glossaries, pairs, `${team}:entries`], args: ['G2', 'EN|DE', '{}', '{}'] },
  { name: 'remove_glossary', keys: [team, glossaries, pairs, `${team}:entries`], args: ['G1'] },
];

let server: RedisServer;
let client: Redis;
let store: Store;

beforeAll(async () => {
  server = await redisServer();
  client = plainClient(server.port);
});

afterAll(() => client.disconnect());

beforeEach(async () => {
  await client.flushall();
  store = await openRedisStore({ url: server.url, log: memoryLog() });
  await furnish(store, { ...QUOTA, maxGlossaries: 2 });
  await store.ledger.admit(asking('r1'));
  await store.glossaries.create({ glossaryId: 'G1', teamId: TEAM, name: 'n', sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } });
  return () => store.close();
});

/** Bounds that only `create_team` takes: the other calls find their period running. */
function head(name: ScriptName, deadlineMs: string): string[] {
  const offer = ['1', NEVER_MS, 'P1M', '1'];
  return ['', deadlineMs, ...(name === 'ledger' ? [offer.join(' ')] : offer)];
}

describe.each(CALLS)('the script $name with $args', ({ name, keys: scriptKeys, args }) => {
  test('with an argument or key missing fails and changes nothing', async () => {
    const before = await snapshot(client);
    const full = [...head(name, NEVER_MS), ...args];
    for (let length = 0; length < full.length; length++) {
      const call = client.eval(scriptText(name), scriptKeys.length, ...scriptKeys, ...full.slice(0, length));
      await expect(call).rejects.toThrow('is missing');
    }
    for (let length = 0; length < scriptKeys.length; length++) {
      const call = client.eval(scriptText(name), length, ...scriptKeys.slice(0, length), ...full);
      await expect(call).rejects.toThrow('is missing');
    }
    expect(await snapshot(client)).toEqual(before);
  });

  test('past its deadline answers the time and changes nothing', async () => {
    const before = await snapshot(client);
    const reply = await client.eval(scriptText(name), scriptKeys.length, ...scriptKeys, ...head(name, PAST_MS), ...args);
    const operations = name === 'ledger' ? Number(args[0]) : undefined;
    const late = [expect.any(Number), 'late'];
    expect(reply).toEqual(operations === undefined ? late : [expect.any(Number), ...Array.from({ length: operations }, () => 'late')]);
    expect(await snapshot(client)).toEqual(before);
  });

  test('within it does what it is for', async () => {
    const before = await snapshot(client);
    await client.eval(scriptText(name), scriptKeys.length, ...scriptKeys, ...head(name, NEVER_MS), ...args);
    expect(await snapshot(client)).not.toEqual(before);
  });
});

describe("the store's time", () => {
  test('is learnt by one call that does nothing, and then known', async () => {
    const fresh = await openRedisStore({ url: server.url, log: memoryLog() });
    await client.config('RESETSTAT');
    expect(await fresh.ledger.admit(asking('r2'))).toMatchObject({ kind: 'admitted' });
    expect(await scriptRuns(client)).toBe(2);
    expect(await fresh.ledger.admit(asking('r3'))).toMatchObject({ kind: 'admitted' });
    expect(await scriptRuns(client)).toBe(3);
    await fresh.close();
  });

  test('is never estimated later than it is, and follows a clock that is set', () => {
    const time = new StoreTime();
    expect(time.at('a', 0)).toBeUndefined();
    // Sent at 100, received at 180: the server read 5000 somewhere in between.
    time.learn('a', 100, 180, 5000);
    expect(time.at('a', 180)).toBe(5000);
    // A quicker reply narrows it; a slower one that fits teaches nothing.
    time.learn('a', 200, 210, 5080);
    expect(time.at('a', 210)).toBe(5080);
    time.learn('a', 300, 400, 5200);
    expect(time.at('a', 400)).toBe(5270);
    time.learn('a', 500, 510, 1000);
    expect(time.at('a', 510)).toBe(1000);
    time.learn('a', 600, 610, 9000);
    expect(time.at('a', 610)).toBe(9000);
    expect(time.at('b', 610)).toBeUndefined();
    time.forget();
    expect(time.at('a', 610)).toBeUndefined();
  });
});
