// URLs of the Redis family: how they are parsed, and, with a real server, databases and TLS. The evidence of failovers has the rest.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { parseRedisUrl } from '../../../../src/stores/redis/redis-url.ts';
import { freePort } from '../../../support/free-port.ts';
import { makeCertificate } from '../../../support/certificate.ts';
import { redisOfFile } from '../../../support/redis-of-file.ts';
import { refusal, walk } from './fixture.ts';

const { plainClient, redisServer } = redisOfFile();

const HOST_A = { host: 'a', port: 1 };

describe('a URL', () => {
  test.each([
    ['redis://h', { kind: 'server', hosts: [{ host: 'h', port: 6379 }], database: 0, tls: false }],
    ['redis://h:1/5', { kind: 'server', hosts: [{ host: 'h', port: 1 }], database: 5 }],
    ['rediss://u:p%40w@h:1', { kind: 'server', username: 'u', password: 'p@w', tls: true, shown: 'rediss://h:1' }],
    ['redis://:pw@[::1]:1', { kind: 'server', username: undefined, password: 'pw', hosts: [{ host: '::1', port: 1 }] }],
    ['redis+cluster://a:1,b', { kind: 'cluster', hosts: [HOST_A, { host: 'b', port: 6379 }], tls: false }],
    ['rediss+cluster://a:1', { kind: 'cluster', tls: true, shown: 'rediss+cluster://a:1' }],
    ['redis+sentinel://u:p@a:1,b/main/3', { kind: 'sentinel', hosts: [HOST_A, { host: 'b', port: 26_379 }], name: 'main', database: 3 }],
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

describe('a real server', () => {
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
});
