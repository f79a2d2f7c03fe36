// The client's address, with and without trusted proxies: in the access log, and for counting unknown keys.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { ask, onEveryGateway } from '../../support/every-gateway.ts';
import type { Setting } from '../../support/every-gateway.ts';

type Line = Readonly<Record<string, unknown>>;

async function clientOf(setting: Setting, headers: Readonly<Record<string, string>>, path = '/v1/usage'): Promise<Line> {
  const response = await ask(setting, { path, headers });
  const id = response.header('x-request-id');
  const line = (): string | undefined => setting.gateway.logLines.find((text) => text.includes(`"${id}"`));
  // Lines are written in pieces, a tenth of a second later.
  await expect.poll(line).toBeDefined();
  return JSON.parse(line()!) as Line;
}

describe('behind a trusted proxy', () => {
  onEveryGateway({ config: { listen_trusted_proxies: ['127.0.0.0/8'] } }, (setting) => {
    test('it is the one that the proxy names, also for requests that match nothing', async () => {
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' })).toMatchObject({ client: '203.0.113.9', code: 'unauthorized' });
      expect(await clientOf(setting, { 'x-forwarded-for': '192.0.2.1, [2001:db8::9]:1' })).toMatchObject({ client: '2001:db8::9' });
      expect(await clientOf(setting, {})).toMatchObject({ client: '127.0.0.1' });
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' }, '/nowhere')).toMatchObject({
        client: '203.0.113.9',
        code: 'not_found',
      });
    });

    test('a spoofed field has no effect', async () => {
      expect(await clientOf(setting, { 'remote-address': '203.0.113.9', 'x-real-ip': '203.0.113.9' })).toMatchObject({
        client: '127.0.0.1',
      });
    });
  });
});

describe('without trusted proxies', () => {
  onEveryGateway({}, (setting) => {
    test('no address in a field is logged or trusted', async () => {
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' })).not.toHaveProperty('client');
    });

    test('a key with allowed addresses is checked against the connection’s', async () => {
      const { key, keyId } = await setting.gateway.team();
      const allowed = ['10.0.0.0/8', '203.0.113.9/32'];
      answered(await setting.gateway.store.teams.updateKey(keyId, { limits: { allowedAddresses: allowed } }));
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': '203.0.113.9' };
      for (let i = 0; i < 2; i++) expect(await clientOf(setting, headers)).toMatchObject({ client: '127.0.0.1', code: 'unauthorized' });
      answered(await setting.gateway.store.teams.updateKey(keyId, { limits: { allowedAddresses: ['127.0.0.0/8'] } }));
      expect(await clientOf(setting, headers)).toMatchObject({ client: '127.0.0.1', code: 'ok' });
    });
  });
});

describe('with a limit on unknown keys', () => {
  onEveryGateway({ config: { limits: { unknown_keys_per_minute: 3 }, listen_trusted_proxies: ['127.0.0.1'] } }, (setting) => {
    const unknown = (): string => `la_live_${randomBytes(20).toString('hex')}`;
    const code = async (key: string, from: string): Promise<string> => {
      const { body } = await ask(setting, { path: '/v1/usage', key, headers: { 'x-forwarded-for': from } });
      return (JSON.parse(body) as { code?: string }).code ?? 'ok';
    };

    test('an address that sends too many of them is told to wait; known keys and other addresses are served', async () => {
      const { key } = await setting.gateway.team();
      expect(await code(key, '203.0.113.1')).toBe('ok');
      for (let i = 0; i < 3; i++) expect(await code(unknown(), '203.0.113.1')).toBe('unauthorized');
      expect(await code(unknown(), '203.0.113.1')).toBe('service_unavailable');
      expect(await code(unknown(), '203.0.113.2')).toBe('unauthorized');
      expect(await code(key, '203.0.113.1')).toBe('ok');
    });
  });
});
