// URLs of the Redis family: how they are parsed, and each kind with a real server.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { parseRedisUrl } from '../../../../src/stores/redis/redis-url.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/certificate.ts';
import { redisOfFile } from '../../../support/redis-of-file.ts';
import { asking, furnish, memoryLog, refusal, walk } from './fixture.ts';

const { clusterOfOne, plainClient, redisServer } = redisOfFile();

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
  ])('%s is parsed', (url, expected) => {
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
  ])('%s is refused with the right forms, and without its credentials', async (url) => {
    const message = await refusal(url);
    expect(message).toContain('expected redis://');
    expect(message).not.toContain('secret');
  });
});

describe('every kind of URL', () => {
  test('redis:// with a database', async () => {
    const server = await redisServer();
    await walk(`${server.url}/3`);
    const client = plainClient(server.port);
    expect(await client.dbsize()).toBe(0);
  });

  test('rediss:// with a trusted certificate; any other is refused', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lingate-tls-'));
    const { certFile, keyFile } = await makeCertificate(directory, 'lingate-test', 'IP:127.0.0.1');
    const port = await freePort();
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
    await redisServer(['--tls-port', String(port), ...files, '--tls-auth-clients', 'no']);
    const url = `rediss://127.0.0.1:${port}`;
    expect(await refusal(url)).toContain('NODE_EXTRA_CA_CERTS');
    const trusted = getCACertificates();
    setDefaultCACertificates([...trusted, readFileSync(certFile, 'utf8')]);
    try {
      await walk(url);
    } finally {
      setDefaultCACertificates(trusted);
      rmSync(directory, { recursive: true });
    }
  });

  test('redis+cluster:// with teams in all slots, and a warning about full coverage', async () => {
    const { server, url, client } = await clusterOfOne();
    const log = memoryLog();
    await walk(url, log);
    expect(log.lines).toContainEqual(expect.stringContaining('set cluster-require-full-coverage no'));
    const store = promisedStore(await openRedisStore({ url, log, commandTimeoutMs: 5000 }));
    for (let i = 0; i < 20; i++) {
      const [teamId, keyId] = [`team-${i}`, `key-${i}`];
      await furnish(store, undefined, 0, teamId, keyId);
      expect(await store.ledger.admit(asking('r', { teamId, keyId }))).toMatchObject({ kind: 'admitted' });
      expect(await store.teams.revokeKey(keyId)).toMatchObject({ status: 'revoked' });
    }
    expect(await store.teams.listTeams()).toHaveLength(21);
    client.disconnect();
    await server.stop();
    await expect.poll(async () => (await store.ledger.admit(asking('r9'))).kind).toBe('unavailable');
    await store.close();
  });

  test('redis+sentinel:// by the name of the master', async () => {
    const master = await redisServer();
    const directory = mkdtempSync(join(tmpdir(), 'lingate-sentinel-'));
    const file = join(directory, 'sentinel.conf');
    writeFileSync(file, `sentinel monitor main 127.0.0.1 ${master.port} 1\n`);
    const sentinel = await redisServer(['--sentinel'], file);
    const url = `redis+sentinel://127.0.0.1:${sentinel.port}/main`;
    await walk(url);
    expect(await refusal(`${url}-other`)).toContain('no sentinel answers with a master');
    rmSync(directory, { recursive: true });
  });
});
