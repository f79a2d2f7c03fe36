// The plugin lingate/plugins/memory over every front, each listener and each store: what reaches the engine, what callers get, and what they pay.
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { CANARY } from '../../src/testing.ts';
import { ask, onOneGateway } from '../support/every-gateway.ts';
import { FACADES, FRONTS, V1 } from '../support/fronts.ts';
import type { Front } from '../support/fronts.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const MASK = fileURLToPath(new URL('../../config/examples/mask-email.ts', import.meta.url));
/** One minor unit for each character. */
const DEAR_PLAN = { ...CREDIT_PLAN, credit_minor_per_million: 1_000_000 };

const withMemory = (charge: string) => ({
  plugins: [...FACADES, { module: MASK }, { module: 'lingate/plugins/memory', options: { charge } }],
  engine: { timeout_ms: 20_000 },
});

const billedBy = ({ body }: HttpResponse): number => (JSON.parse(body) as { billed_characters: number }).billed_characters;

describe.each(['none', 'full'])('charge: %s', (charge) => {
  /** What is charged for remembered texts. */
  const ofHits = (characters: number): number => (charge === 'full' ? characters : 0);

  onOneGateway({ config: withMemory(charge) }, (setting) => {
    afterEach(() => setting.engine.forget());

    const translate = (front: Front, { key }: TestTeam, text: readonly string[]): Promise<HttpResponse> =>
      request({ port: setting.gateway.port, ...front.translation(key, text) });
    const sent = (): readonly string[] => setting.engine.requests.flatMap(({ body }) => (JSON.parse(body) as { text: string[] }).text);
    const textsOf = (front: Front, response: HttpResponse): readonly string[] => {
      expect([front.name, response.status]).toEqual([front.name, 200]);
      return front.texts(response.body);
    };

    test.each(charge === 'none' ? FRONTS : [V1])(
      'over $name only new texts reach the engine, and the answer is the same as without the plugin',
      async (front) => {
        const team = await setting.gateway.team();
        const other = await setting.gateway.team();
        expect(textsOf(front, await translate(front, team, ['Hello', 'grüße 😀']))).toEqual(['[DE] Hello', '[DE] grüße 😀']);
        expect(textsOf(front, await translate(front, team, ['new', 'grüße 😀', 'Hello', 'new']))).toEqual([
          '[DE] new',
          '[DE] grüße 😀',
          '[DE] Hello',
          '[DE] new',
        ]);
        expect(textsOf(front, await translate(front, team, ['Hello']))).toEqual(['[DE] Hello']);
        expect(sent()).toEqual(['Hello', 'grüße 😀', 'new', 'new']);
        await expect.poll(() => setting.gateway.charged(team)).toBe(12 + 6 + ofHits(12) + ofHits(5));
        await translate(front, other, ['Hello']);
        expect(sent()).toHaveLength(5);
        await expect.poll(() => setting.gateway.charged(other)).toBe(5);
      },
    );

    test('fronts share it, and a text with any other option is another entry', async () => {
      const team = await setting.gateway.team();
      for (const front of FRONTS) expect(textsOf(front, await translate(front, team, ['Hello']))).toEqual(['[DE] Hello']);
      const asked = new Set(setting.engine.requests.map(({ body }) => body));
      expect(asked.size).toBe(setting.engine.requests.length);
      expect(sent().length).toBeLessThan(FRONTS.length);
    });

    test('texts are remembered masked, and each request gets its own addresses back', async () => {
      const team = await setting.gateway.team();
      await translate(V1, team, ['To ann@example.com']);
      expect(textsOf(V1, await translate(V1, team, ['To bob@example.com']))).toEqual(['[DE] To bob@example.com']);
      expect(sent()).toEqual(['To 0@masked.invalid']);
      await expect.poll(() => setting.gateway.charged(team)).toBe(18 + ofHits(18));
    });

    test('through DeepL’s routes each text reports its own charge', async () => {
      const { key } = await setting.gateway.team();
      const translated = async (...text: string[]): Promise<unknown[]> => {
        const body = { text, target_lang: 'DE', source_lang: 'EN', show_billed_characters: true };
        const response = await ask(setting, { method: 'POST', path: '/v2/translate', key, body });
        const { translations } = JSON.parse(response.body) as { translations: { billed_characters: unknown }[] };
        return translations.map(({ billed_characters: billed }) => billed);
      };
      expect(await translated('Hello', 'World!')).toEqual([5, 6]);
      expect(await translated('new', 'World!', '', 'Hello')).toEqual([3, ofHits(6), 0, ofHits(5)]);
    });

    test('quota and credit are charged billed_characters, but rate and quota are checked for the whole request', async () => {
      const quota = await setting.gateway.team({ ...QUOTA_PLAN, characters: 12 });
      expect(billedBy(await translate(V1, quota, ['Hello']))).toBe(5);
      expect(billedBy(await translate(V1, quota, ['Hello', 'a']))).toBe(1 + ofHits(5));
      await expect.poll(() => setting.gateway.charged(quota)).toBe(6 + ofHits(5));
      expect((await translate(V1, quota, ['Hello', 'Hello', 'Hello'])).status).toBe(402);
      const credit = await setting.gateway.team(DEAR_PLAN, 12);
      expect(billedBy(await translate(V1, credit, ['Hello']))).toBe(5);
      expect(billedBy(await translate(V1, credit, ['Hello']))).toBe(ofHits(5));
      await expect.poll(() => setting.gateway.charged(credit)).toBe(5 + ofHits(5));
      const { balanceMicro } = answered(await setting.gateway.store.teams.findTeam(credit.teamId))!;
      expect(balanceMicro).toBe((12 - 5 - ofHits(5)) * 1_000_000);
    });

    test('nothing is charged, and nothing remembered, when the engine fails for the rest', async () => {
      const team = await setting.gateway.team();
      await translate(V1, team, ['Hello']);
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
      setting.engine.always('not_json');
      const failed = await translate(V1, team, ['Hello', 'new']);
      expect([failed.status, failed.body.includes(CANARY)]).toEqual([503, false]);
      expect((await translate(V1, team, ['Hello'])).status).toBe(200);
      await expect.poll(() => setting.gateway.charged(team)).toBe(5 + ofHits(5));
      setting.engine.forget();
      await translate(V1, team, ['new']);
      expect(sent()).toEqual(['new']);
    });

    test('a caller who leaves while the rest is translated is charged nothing', async () => {
      const team = await setting.gateway.team();
      await translate(V1, team, ['Hello']);
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
      setting.engine.always('hang');
      const connection = await RawConnection.open({ port: setting.gateway.port });
      connection.send(requestBytes(V1.translation(team.key, ['Hello', 'left'])));
      await setting.engine.until(() => sent().includes('left'));
      connection.destroy();
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
      setting.engine.forget();
      await translate(V1, team, ['left']);
      expect(sent()).toEqual(['left']);
    });

    test('a revoked key gets nothing that is remembered', async () => {
      const team = await setting.gateway.team();
      await translate(V1, team, ['Hello']);
      answered(await setting.gateway.store.teams.revokeKey(team.keyId));
      expect((await translate(V1, team, ['Hello'])).status).toBe(401);
    });

    test('metrics count remembered texts and the characters they saved', async () => {
      const { body } = await request({ port: setting.gateway.opsPort, method: 'GET', path: '/metrics', headers: {} });
      const metric = (name: string): number => Number(new RegExp(`^lingate_memory_${name} (\\S+)$`, 'm').exec(body)![1]);
      expect(metric('texts_total\\{outcome="hit"\\}')).toBeGreaterThan(0);
      expect(metric('texts_total\\{outcome="miss"\\}')).toBeGreaterThan(0);
      expect(metric('texts_total\\{outcome="unavailable"\\}')).toBe(0);
      expect(metric('saved_characters_total')).toBeGreaterThan(metric('texts_total\\{outcome="hit"\\}'));
      expect(metric('entries')).toBeGreaterThan(0);
      expect(metric('bytes')).toBeGreaterThan(0);
    });
  });
});
