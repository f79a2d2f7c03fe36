// The laws of limits, quotas, revocation and release, from one table over all fronts: /v1 and the APIs that plugins add.
import { beforeEach, describe, expect, test } from 'vitest';
import { ask, onEveryGateway } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { RawConnection, requestBytes } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';

interface Front {
  readonly path: string;
  readonly body: (text: string) => Readonly<Record<string, unknown>>;
  /** The translation in an answer. */
  readonly translation: (answer: unknown) => unknown;
  readonly statuses: Readonly<Record<'rate' | 'quota' | 'credit' | 'revoked' | 'unknown' | 'engine' | 'long', number>>;
}

interface Translations {
  readonly translations: readonly { readonly text: string }[];
}

const FRONTS: Readonly<Record<string, Front>> = {
  '/v1': {
    path: '/v1/translate',
    body: (text) => ({ text: [text], target_lang: 'DE' }),
    translation: (answer) => (answer as Translations).translations[0]!.text,
    statuses: { rate: 429, quota: 402, credit: 402, revoked: 401, unknown: 401, engine: 503, long: 400 },
  },
  DeepL: {
    path: '/v2/translate',
    body: (text) => ({ text: [text], target_lang: 'DE' }),
    translation: (answer) => (answer as Translations).translations[0]!.text,
    statuses: { rate: 429, quota: 456, credit: 456, revoked: 403, unknown: 403, engine: 503, long: 413 },
  },
  LibreTranslate: {
    path: '/translate',
    body: (text) => ({ q: text, source: 'en', target: 'de' }),
    translation: (answer) => (answer as { readonly translatedText: string }).translatedText,
    statuses: { rate: 429, quota: 403, credit: 403, revoked: 403, unknown: 403, engine: 500, long: 400 },
  },
};
const ALL = Object.values(FRONTS);
const PLUGINS = ['deepl-v2', 'libretranslate'].map((name) => ({ module: `lingate/plugins/${name}` }));

onEveryGateway({ config: { plugins: PLUGINS } }, (setting) => {
  beforeEach(() => setting.engine.forget());

  const translate = ({ path, body }: Front, { key }: Pick<TestTeam, 'key'>, text = 'abcd'): Promise<HttpResponse> =>
    ask(setting, { method: 'POST', path, key, body: body(text) });
  const standing =
    ({ teamId }: TestTeam) =>
    () =>
      setting.gateway.store.teams.standing(teamId);
  const settled = (usedCharacters: number) => ({ usedCharacters, heldCharacters: 0, heldMicro: 0, openReservations: 0 });

  describe.each(Object.entries(FRONTS))('%s', (_name, front) => {
    const { statuses } = front;

    test('a translation is charged its characters, no more and no less', async () => {
      const team = await setting.gateway.team();
      const answer = await translate(front, team, 'grüße 😀');
      expect([answer.status, front.translation(answer.json())]).toEqual([200, '[DE] grüße 😀']);
      await expect.poll(standing(team)).toMatchObject(settled(7));
    });

    test('a quota ends to the character, and what is beyond it costs nothing', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 10 });
      const answers = [
        await translate(front, team),
        await translate(front, team),
        await translate(front, team),
        await translate(front, team, 'ab'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, statuses.quota, 200]);
      await expect.poll(standing(team)).toMatchObject(settled(10));
      expect((await translate(front, team, 'a')).status).toBe(statuses.quota);
    });

    test('so does a credit', async () => {
      // Each character costs a quarter of the one minor unit.
      const team = await setting.gateway.team({ ...CREDIT_PLAN, credit_minor_per_million: 250_000 }, 1);
      expect((await translate(front, team, 'abcde')).status).toBe(statuses.credit);
      expect((await translate(front, team, 'abcd')).status).toBe(200);
      await expect.poll(standing(team)).toMatchObject({ ...settled(4), balanceMicro: 0 });
      expect((await translate(front, team, 'a')).status).toBe(statuses.credit);
    });

    test('a revoked key is refused at its next request; an unknown one always', async () => {
      const team = await setting.gateway.team();
      expect((await translate(front, team)).status).toBe(200);
      await setting.gateway.store.teams.revokeKey(team.keyId);
      expect((await translate(front, team)).status).toBe(statuses.revoked);
      expect((await translate(front, { key: `la_live_${'a'.repeat(40)}` })).status).toBe(statuses.unknown);
      await expect.poll(standing(team)).toMatchObject(settled(4));
    });

    test('what the engine fails at is given back, and can be used', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 4 });
      setting.engine.always('not_json');
      expect((await translate(front, team)).status).toBe(statuses.engine);
      expect(setting.engine.requests).toHaveLength(2);
      await expect.poll(standing(team)).toMatchObject(settled(0));
      setting.engine.forget();
      expect((await translate(front, team)).status).toBe(200);
    });

    test('a caller who leaves pays nothing, and the engine is called off', async () => {
      const team = await setting.gateway.team();
      setting.engine.always('hang');
      const connection = await RawConnection.open({ port: setting.gateway.port });
      const headers = { authorization: `Bearer ${team.key}`, 'content-type': 'application/json' };
      connection.send(requestBytes({ method: 'POST', path: front.path, headers, body: JSON.stringify(front.body('abcd')) }));
      await setting.engine.until(() => setting.engine.requests.length === 1);
      connection.destroy();
      await setting.engine.until(() => setting.engine.requests[0]!.aborted);
      await expect.poll(standing(team)).toMatchObject(settled(0));
      expect(setting.engine.requests).toHaveLength(1);
    });

    test("a text over the plan's limit for one request is refused, and costs nothing", async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 3 });
      expect((await translate(front, team)).status).toBe(statuses.long);
      expect(setting.engine.requests).toEqual([]);
      await expect.poll(standing(team)).toMatchObject(settled(0));
    });
  });

  test('over all fronts at once, a quota is spent exactly', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 40 });
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => translate(ALL[i % ALL.length]!, team)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    await expect.poll(standing(team)).toMatchObject(settled(40));
  });

  test('over all fronts at once, as many requests are let in as the rate allows, and each is told in its own words', async () => {
    for (;;) {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 4 });
      const startedAtMs = performance.now();
      const answers = await Promise.all(Array.from({ length: 15 }, (_, i) => translate(ALL[i % ALL.length]!, team)));
      // A machine that stands still meanwhile lets the next second begin.
      if (performance.now() - startedAtMs > 900) continue;
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
      for (const answer of answers.filter(({ status }) => status !== 200)) {
        expect([answer.status, answer.header('retry-after')]).toEqual([429, '1']);
      }
      await expect.poll(standing(team)).toMatchObject(settled(16));
      return;
    }
  });
});
