// The access log tells where requests come from once the operator has said who stands in front; on both listeners.
import { describe, expect, test } from 'vitest';
import { ask, onEveryGateway } from '../support/every-gateway.ts';
import type { Setting } from '../support/every-gateway.ts';

type Line = Readonly<Record<string, unknown>>;

async function clientOf(setting: Setting, headers: Readonly<Record<string, string>>, path = '/v1/usage'): Promise<Line> {
  const response = await ask(setting, { path, headers });
  const id = response.header('x-request-id');
  // Lines are written in pieces, a tenth of a second later.
  await expect.poll(() => setting.gateway.logLines.join('')).toContain(`"${id}"`);
  const line = setting.gateway.logLines
    .join('')
    .split('\n')
    .find((text) => text.includes(`"${id}"`));
  return JSON.parse(line!) as Line;
}

describe('behind a trusted proxy', () => {
  onEveryGateway({ config: { listen_trusted_proxies: ['127.0.0.0/8'] } }, (setting) => {
    test('it is what the proxy says, also for requests that match nothing', async () => {
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' })).toMatchObject({ client: '203.0.113.9', code: 'unauthorized' });
      expect(await clientOf(setting, { forwarded: 'for="[2001:db8::9]:1"' })).toMatchObject({ client: '2001:db8::9' });
      expect(await clientOf(setting, {})).toMatchObject({ client: '127.0.0.1' });
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' }, '/nowhere')).toMatchObject({
        client: '203.0.113.9',
        code: 'not_found',
      });
    });

    test('a field of that name is no way to claim one', async () => {
      expect(await clientOf(setting, { 'remote-address': '203.0.113.9', 'x-real-ip': '203.0.113.9' })).toMatchObject({
        client: '127.0.0.1',
      });
    });
  });
});

describe('without trusted proxies', () => {
  onEveryGateway({}, (setting) => {
    test('no address is told or believed', async () => {
      expect(await clientOf(setting, { 'x-forwarded-for': '203.0.113.9' })).not.toHaveProperty('client');
    });
  });
});
