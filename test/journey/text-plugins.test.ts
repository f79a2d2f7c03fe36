// The guide's plugin that masks e-mail addresses, over every front, each listener and each store: what the engine sees, what callers get and pay.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { answer } from '../../src/testing.ts';
import { ask, onOneGateway } from '../support/every-gateway.ts';
import { FACADES, FRONTS } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import type { TestTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const MODULE = fileURLToPath(new URL('../../config/examples/mask-email.ts', import.meta.url));
const TEXTS = ['Write to ann@example.com or bob.b@example.co.uk, not ann@example.com.', 'Hello', '7@masked.invalid'];
const CHARACTERS = TEXTS.join('').length;

const config = { plugins: [...FACADES, { module: MODULE }], engine: { timeout_ms: 20_000 } };

onOneGateway({ config }, (setting) => {
  afterEach(() => setting.engine.forget());

  const translate = (front: Front, { key }: TestTeam): Promise<HttpResponse> =>
    request({ port: setting.gateway.port, ...front.translation(key, TEXTS) });
  const sent = (): unknown => setting.engine.requests.map(({ body }) => (JSON.parse(body) as { text: unknown }).text);

  describe.each(FRONTS)('over $name', (front) => {
    test('the engine sees no address, the caller gets every one back and pays for the original texts', async () => {
      const team = await setting.gateway.team();
      const response = await translate(front, team);
      expect([response.status, front.texts(response.body)]).toEqual([200, TEXTS.map((text) => `[DE] ${text}`)]);
      expect(sent()).toEqual([['Write to 0@masked.invalid or 1@masked.invalid, not 2@masked.invalid.', 'Hello', '0@masked.invalid']]);
      await expect.poll(() => setting.gateway.charged(team)).toBe(CHARACTERS);
    });

    test('a translation that lost an address is refused, and nothing is charged', async () => {
      const team = await setting.gateway.team();
      const lost = ['Schreib an 0@masked.invalid oder 1@masked.invalid.', 'Hallo', '0@masked.invalid'];
      setting.engine.always(answer(JSON.stringify({ translations: lost.map((text) => ({ text })) })));
      expect((await translate(front, team)).status).toBe(front.statuses.engine_unavailable);
      await expect.poll(() => setting.gateway.charged(team)).toBe(0);
    });
  });

  test('a text for language detection is masked, too', async () => {
    const { key } = await setting.gateway.team();
    const response = await ask(setting, { method: 'POST', path: '/detect', body: { q: 'Hello ann@example.com', api_key: key } });
    expect(response.status).toBe(200);
    expect(sent()).toEqual([['Hello 0@masked.invalid']]);
  });
});
