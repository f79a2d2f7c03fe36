// The library of functions on a server: loaded, lost and loaded again, beside those of other versions and other tenants.
import type { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { functionLibrary } from '../../../../src/stores/redis/functions.ts';
import type { PluginStore } from '../../../../src/ports/plugin.ts';
import { teamKeys } from '../../../../src/stores/redis/redis-keys.ts';
import { manualSection } from '../../../support/manual.ts';
import { startRedisCluster } from '../../../support/redis-cluster.ts';
import { emptyRedis, redisOfFile } from '../../../support/redis-of-file.ts';
import { TEAM, asking, functionCalls, furnish, refusal, walk } from './fixture.ts';

const { redisServer, plainClient } = redisOfFile();
const redis = emptyRedis();
let client: Redis;
let store: PluginStore;

beforeEach(async () => {
  ({ client } = redis);
  store = await redis.open();
  await furnish(store);
});

afterEach(async () => {
  await client.call('FUNCTION', 'FLUSH');
});

const strange = (name: string) => `#!lua name=${name}\nredis.register_function('${name}_f', function() return 1 end)`;

/** The permissions that the manual recommends for a user of its own. */
function allowedByTheManual(): string[] {
  const rules = /`ACL SETUSER lingate ([^`]+)`/.exec(manualSection('stores', 'Redis'))![1]!;
  return rules.replace('PASSWORD', 'pw').split(' ');
}

async function libraries(of = client): Promise<string[]> {
  const listed = (await of.call('FUNCTION', 'LIST')) as readonly (readonly unknown[])[];
  return listed.map((fields) => String(fields[fields.indexOf('library_name') + 1])).toSorted();
}

describe('the library of functions', () => {
  test('is loaded once, when a store is opened, under a name derived from its text', async () => {
    expect(await libraries()).toEqual([functionLibrary().name]);
    await redis.open();
    expect(await libraries()).toEqual([functionLibrary().name]);
    expect(functionLibrary().name).toMatch(/^lingate_[0-9a-f]{12}$/);
  });

  test('is loaded again by the next call if the server has lost it, and the call runs once', async () => {
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    await client.call('FUNCTION', 'FLUSH');
    await client.config('RESETSTAT');
    const answers = await Promise.all([store.ledger.admit(asking('r2')), store.ledger.resolve(TEAM, 'r1', 'commit')]);
    expect(answers.map(({ kind }) => kind)).toEqual(['admitted', 'committed']);
    // One call that did not find the function, and one that worked.
    expect(await functionCalls(client)).toBe(2);
    expect(await client.llen(teamKeys(TEAM).places)).toBe(2);
    expect(await libraries()).toEqual([functionLibrary().name]);
  });

  test('calls nothing that it does not declare, which Redis would report only at run time', () => {
    const text = functionLibrary().text.replaceAll(/--.*|'(?:[^'\\\n]|\\.)*'/g, '');
    const words = /^(?:and|elseif|function|if|in|not|or|return|until|while)$/;
    const luas = /^(?:error|ipairs|next|pairs|pcall|select|setmetatable|tonumber|tostring|type|unpack)$/;
    const luaLibraries = /^(?:cjson|math|redis|string|struct|table)\./;
    const called = new Set([...text.matchAll(/(?<![.:\w])([A-Za-z_]\w*(?:\.\w+)?) ?\(/g)].map(([, name]) => name!));
    const declared = (name: string) => {
      const [of, member] = name.split('.');
      const where =
        member === undefined
          ? `(?:local|function|for)\\b.*\\b${of}\\b`
          : `function ${of === 'made' ? '(?:functions|timed)' : of}\\.${member}\\(`;
      return new RegExp(where).test(text);
    };
    const unknown = [...called].filter((name) => !words.test(name) && !luas.test(name) && !luaLibraries.test(name) && !declared(name));
    expect(called.size).toBeGreaterThan(100);
    expect(unknown).toEqual([]);
  });

  test('has room for more: a function in Lua may have 200 local variables, and those of a block end with it', async () => {
    const more = Array.from({ length: 50 }, (_, i) => `more_${i}`).join(', ');
    const roomier = functionLibrary().text.replaceAll('local function make()', `$&\nlocal ${more}`);
    expect(roomier).toContain(more);
    await client.call('FUNCTION', 'FLUSH');
    await client.call('FUNCTION', 'LOAD', roomier);
  });

  test('leaves libraries of others alone', async () => {
    await client.call('FUNCTION', 'FLUSH');
    await client.call('FUNCTION', 'LOAD', strange('tenant'));
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    expect(await libraries()).toEqual([functionLibrary().name, 'tenant']);
    expect(await client.call('FCALL', 'tenant_f', '0')).toBe(1);
  });

  test('coexists with those of other versions; if there are too many, some are deleted', async () => {
    const others = (count: number) => Array.from({ length: count }, (_, i) => `lingate_${String(i).padStart(12, '0')}`);
    for (const [name] of others(8).map((one) => [one] as const)) await client.call('FUNCTION', 'LOAD', strange(name));
    await client.call('FUNCTION', 'DELETE', functionLibrary().name);
    await store.ledger.admit(asking('r1'));
    expect(await libraries()).toEqual([...others(8), functionLibrary().name].toSorted());
    await client.call('FUNCTION', 'LOAD', strange('lingate_999999999999'));
    await client.call('FUNCTION', 'DELETE', functionLibrary().name);
    expect(await store.ledger.admit(asking('r2'))).toMatchObject({ kind: 'admitted' });
    expect(await libraries()).toEqual([functionLibrary().name]);
  });

  test('can be loaded by a user with the permissions; for another user the error names what to allow', async () => {
    const server = await redisServer();
    const admin = plainClient(server.port);
    await admin.call('ACL', 'SETUSER', 'gate', ...allowedByTheManual());
    await walk(server.url.replace('//', '//gate:pw@'));
    await admin.call('FUNCTION', 'FLUSH');
    await admin.call('ACL', 'SETUSER', 'less', 'on', '>pw', '~lingate:*', '+@all', '-function');
    const message = await refusal(server.url.replace('//', '//less:pw@'));
    expect(message).toContain('does not permit loading its functions: allow the user +fcall and +function');
    expect(message).not.toContain('pw@');
  });

  test('is loaded on every master of a cluster, and again on one that has lost it', async () => {
    const cluster = await startRedisCluster({ masters: 3, replicasEach: 0 });
    try {
      const through = await redis.open({ url: cluster.url });
      const teams = [
        '01JTEAM0000000000000000000',
        '01JTEAM0000000000000000001',
        '01JTEAM0000000000000000002',
        '01JTEAM0000000000000000003',
      ];
      for (const [i, teamId] of teams.entries()) await furnish(through, undefined, 0, teamId, `01JKEY0000000000000000000${i}`);
      for (const node of cluster.nodes) expect(await libraries(node.client)).toEqual([functionLibrary().name]);
      for (const node of cluster.nodes) await node.client.call('FUNCTION', 'FLUSH');
      const answers = await Promise.all(
        teams.map(async (teamId, i) => through.ledger.admit(asking(`r${i}`, { teamId, keyId: `01JKEY0000000000000000000${i}` }))),
      );
      expect(answers.map(({ kind }) => kind)).toEqual(teams.map(() => 'admitted'));
    } finally {
      await cluster.stop();
    }
  });
});
