// The guide's plugins for texts over every front: one masks e-mail addresses, one refuses words. What the engine sees, what callers get and pay.
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { answer } from '../../src/testing.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { ask, onOneGateway } from '../support/every-gateway.ts';
import { FACADES, FRONTS } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import type { TestTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const example = (name: string): string => fileURLToPath(new URL(`../../config/examples/${name}.ts`, import.meta.url));
const WORD = 'project-heron';
const TOKEN = randomBytes(24).toString('hex');
const TEXTS = ['Write to ann@example.com or bob.b@example.co.uk, not ann@example.com.', 'Hello', '7@masked.invalid'];
const CHARACTERS = TEXTS.join('').length;

const config = {
  plugins: [...FACADES, { module: example('mask-email') }, { module: example('blocked-words'), options: { words: [WORD] } }],
  engine: { timeout_ms: 20_000 },
  admin: { token: TOKEN },
};

onOneGateway({ config }, (setting) => {
  afterEach(() => setting.engine.forget());

  const translate = (front: Front, { key }: TestTeam, texts = TEXTS): Promise<HttpResponse> =>
    request({ port: setting.gateway.port, ...front.translation(key, texts) });
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

    test('a text with a refused word has its own code, and not a word of the caller’s; another is translated', async () => {
      const team = await setting.gateway.team();
      const refused = await translate(front, team, ['Hello', `About ${WORD}.`]);
      expect([refused.status, sent()]).toEqual([422, []]);
      expect(refused.body).toContain('text.1: has a word');
      expect(refused.body + setting.gateway.logLines.join('')).not.toContain(WORD);
      const good = await translate(front, team, ['Hello']);
      expect([good.status, front.texts(good.body)]).toEqual([200, ['[DE] Hello']]);
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
    });
  });

  test('the console counts what a plugin refused as refused, by its status, and not as failed', async () => {
    const visitor = await ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
    const { body } = await visitor.get('/console');
    expect(body).toMatch(/<span class="dot refused"><\/span>\s*<a href="\/docs\/errors#blocked-word">blocked_word</);
    // Nothing is counted as failed but what the engine got wrong in the tests before.
    expect(
      body.replaceAll(/<span class="dot failed"><\/span>\s*<a href="\/docs\/errors#engine-unavailable">engine_unavailable</g, ''),
    ).not.toContain('dot failed');
  });

  test('a text for language detection is masked, too', async () => {
    const { key } = await setting.gateway.team();
    const response = await ask(setting, { method: 'POST', path: '/detect', body: { q: 'Hello ann@example.com', api_key: key } });
    expect(response.status).toBe(200);
    expect(sent()).toEqual([['Hello 0@masked.invalid']]);
  });
});
