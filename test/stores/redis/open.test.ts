// Opening the Redis store: what is refused, what is warned of, and every form of URL on a real server of its kind.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test, vi } from 'vitest';
import { StoreError } from '../../../src/domain/store-error.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { parseRedisUrl } from '../../../src/stores/redis/redis-url.ts';
import { freePort, startRedis } from '../../support/redis.ts';
import { TEAM, asking, furnish, memoryLog, ownAllSlots, plainClient } from './fixture.ts';

async function refusal(url: string): Promise<string> {
  const opened = openRedisStore({ url, log: memoryLog() });
  const error = await opened.then(
    async (store) => {
      await store.close();
      throw new Error('it was opened');
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StoreError);
  const { message } = error as StoreError;
  expect(message).not.toContain('\n');
  return message;
}

async function walk(url: string, log = memoryLog()): Promise<void> {
  const store = await openRedisStore({ url, log });
  try {
    await store.ping();
    await furnish(store);
    expect(await store.ledger.admit(asking('r1'))).toMatchObject({ kind: 'admitted' });
    expect(await store.ledger.resolve(TEAM, 'r1', 'commit')).toEqual({ kind: 'committed' });
    expect(await store.teams.standing(TEAM)).toMatchObject({ usedCharacters: 10, openReservations: 0 });
    expect(await store.teams.listTeams()).toHaveLength(1);
  } finally {
    await store.close();
  }
}

describe('a URL', () => {
  test.each([
    ['redis://h', { kind: 'server', server: { host: 'h', port: 6379 }, database: 0, tls: false }],
    ['redis://h:1/5', { kind: 'server', server: { host: 'h', port: 1 }, database: 5 }],
    ['rediss://u:p%40w@h:1', { kind: 'server', username: 'u', password: 'p@w', tls: true, shown: 'rediss://h:1' }],
    ['redis://:pw@[::1]:1', { kind: 'server', username: undefined, password: 'pw', server: { host: '::1', port: 1 } }],
    [
      'redis+cluster://a:1,b',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
        tls: false,
      },
    ],
    ['rediss+cluster://a:1', { kind: 'cluster', tls: true, shown: 'rediss+cluster://a:1' }],
    [
      'redis+sentinel://u:p@a,b:2/main/3',
      {
        kind: 'sentinel',
        sentinels: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 2 },
        ],
        name: 'main',
        database: 3,
      },
    ],
  ])('%s is understood', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected);
  });

  test.each([
    'redis://',
    'redis://secret@h',
    'redis://u:secret@h:0',
    'redis://u:secret@h:65536',
    'redis://u:secret@h:x',
    'redis://u:secret@a:1,b:1',
    'redis://u:secret@h/x',
    'redis://u:secret@h?db=1',
    'redis://u:secret%@h',
    'redis://u:secret@more@h',
    'redis+cluster://u:secret@h:1/2',
    'redis+sentinel://u:secret@h:1',
    'rediss+sentinel://u:secret@h:1/main',
    'valkey://u:secret@h',
  ])('%s is refused with what would be right, and without its credentials', async (url) => {
    const message = await refusal(url);
    expect(message).toContain('expected redis://');
    expect(message).not.toContain('secret');
  });
});

// Side by side: some of them wait for a timeout.
describe.concurrent('a server', () => {
  test('that is not there is refused, in a sentence that names it without credentials', async () => {
    const port = await freePort();
    const message = await refusal(`redis://user:secret@127.0.0.1:${port}/0`);
    expect(message).toBe(`the store redis://127.0.0.1:${port}/0 cannot be used (ECONNREFUSED): start it or correct the store's URL`);
  });

  test.each(['redis+cluster://127.0.0.1:PORT', 'redis+sentinel://127.0.0.1:PORT/main'])(
    '%s that is not there is refused in time',
    async (form) => {
      const startedAtMs = performance.now();
      const message = await refusal(form.replace('PORT', String(await freePort())));
      expect(message).toContain('cannot be used');
      expect(performance.now() - startedAtMs).toBeLessThan(6000);
    },
  );

  test('that accepts and says nothing is refused in time', async () => {
    const mute = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as AddressInfo;
    const startedAtMs = performance.now();
    expect(await refusal(`redis://127.0.0.1:${port}`)).toContain('cannot be used');
    expect(performance.now() - startedAtMs).toBeLessThan(6000);
    mute.close();
  });

  test('that wants a password says so, and serves who knows it', async () => {
    const server = await startRedis(['--requirepass', 'right']);
    expect(await refusal(server.url)).toContain('put the right user and password');
    const wrong = await refusal(server.url.replace('//', '//:secret@'));
    expect(wrong).toContain('put the right user and password');
    expect(wrong).not.toContain('secret');
    await walk(server.url.replace('//', '//:right@'));
    await server.stop();
  });

  test.each(['allkeys-lru', 'volatile-ttl'])('that may evict by %s is refused', async (policy) => {
    const server = await startRedis(['--maxmemory-policy', policy]);
    expect(await refusal(server.url)).toContain(`maxmemory-policy ${policy}): set it to noeviction`);
    await server.stop();
  });

  test('that persists nothing is warned of, one that does is not', async () => {
    const [forgetful, lasting] = await Promise.all([startRedis(), startRedis(['--appendonly', 'yes'])]);
    const [first, second] = [memoryLog(), memoryLog()];
    await walk(forgetful.url, first);
    await walk(lasting.url, second);
    expect(first.lines).toEqual([expect.stringContaining('keeps nothing across a restart')]);
    expect(second.lines).toEqual([]);
    await Promise.all([forgetful.stop(), lasting.stop()]);
  });

  test('that forbids CONFIG is used with a warning', async () => {
    const server = await startRedis();
    const client = plainClient(server.port);
    await client.call('ACL', 'SETUSER', 'gate', 'on', '>pw', '~lingate:*', '+@all', '-config');
    const log = memoryLog();
    await walk(server.url.replace('//', '//gate:pw@'), log);
    expect(log.lines).toEqual([expect.stringContaining('forbids CONFIG')]);
    client.disconnect();
    await server.stop();
  });

  test('older than 6.2 is refused', async () => {
    // No such server is to be had here: this one answers only what is asked at the start.
    const info = '# Server\r\nredis_version:6.0.16\r\nloading:0\r\n';
    const old = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        for (const [command] of chunk.toString().matchAll(/^(?:info|client|hello)\r$/gim)) {
          socket.write(command.toLowerCase().startsWith('info') ? `$${info.length}\r\n${info}\r\n` : '+OK\r\n');
        }
      });
    }).listen(0, '127.0.0.1');
    await once(old, 'listening');
    expect(await refusal(`redis://127.0.0.1:${(old.address() as AddressInfo).port}`)).toContain('is Redis 6.0: use 6.2 or newer');
    old.close();
  });
});

describe('every kind of URL', () => {
  test('redis:// with a database', async () => {
    const server = await startRedis();
    await walk(`${server.url}/3`);
    const client = plainClient(server.port);
    expect(await client.dbsize()).toBe(0);
    client.disconnect();
    await server.stop();
  });

  test('rediss:// with a certificate that is trusted; another is refused', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lingate-tls-'));
    const [key, certificate] = [join(directory, 'key.pem'), join(directory, 'certificate.pem')];
    const subject = ['-subj', '/CN=lingate-test', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const parameters = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    execFileSync('openssl', ['req', ...parameters, '-keyout', key, '-out', certificate, ...subject], { stdio: 'ignore' });
    const port = await freePort();
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate];
    const server = await startRedis(['--tls-port', String(port), ...files, '--tls-auth-clients', 'no']);
    const url = `rediss://127.0.0.1:${port}`;
    expect(await refusal(url)).toContain('NODE_EXTRA_CA_CERTS');
    const trusted = getCACertificates();
    setDefaultCACertificates([...trusted, readFileSync(certificate, 'utf8')]);
    try {
      await walk(url);
    } finally {
      setDefaultCACertificates(trusted);
      await server.stop();
      rmSync(directory, { recursive: true });
    }
  });

  test('redis+cluster:// with teams in all slots, and a warning of full coverage', async () => {
    const server = await startRedis(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']);
    const client = plainClient(server.port);
    await ownAllSlots(client);
    const log = memoryLog();
    await walk(`redis+cluster://127.0.0.1:${server.port}`, log);
    expect(log.lines).toContainEqual(expect.stringContaining('set cluster-require-full-coverage no'));
    const store = await openRedisStore({ url: `redis+cluster://127.0.0.1:${server.port}`, log });
    for (let i = 0; i < 20; i++) {
      const [teamId, keyId] = [`team-${i}`, `key-${i}`];
      await furnish(store, undefined, 0, teamId, keyId);
      expect(await store.ledger.admit(asking('r', { teamId, keyId }))).toMatchObject({ kind: 'admitted' });
      expect(await store.teams.revokeKey(keyId)).toMatchObject({ status: 'revoked' });
    }
    expect(await store.teams.listTeams()).toHaveLength(21);
    client.disconnect();
    await server.stop();
    await vi.waitUntil(async () => (await store.ledger.admit(asking('r9'))).kind === 'unavailable', 5000);
    await store.close();
  });

  test('redis+sentinel:// by the name of the master', async () => {
    const master = await startRedis();
    const directory = mkdtempSync(join(tmpdir(), 'lingate-sentinel-'));
    const file = join(directory, 'sentinel.conf');
    writeFileSync(file, `sentinel monitor main 127.0.0.1 ${master.port} 1\n`);
    const sentinel = await startRedis(['--sentinel'], file);
    await walk(`redis+sentinel://127.0.0.1:${sentinel.port}/main`);
    await sentinel.stop();
    await master.stop();
    rmSync(directory, { recursive: true });
  });
});
