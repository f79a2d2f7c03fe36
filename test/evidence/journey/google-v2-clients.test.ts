// Google's own client for Node, unchanged: its errors and retries.
import { createRequire } from 'node:module';
import type * as Google from '@google-cloud/translate/build/src/v2/index.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { answered } from '../../../src/index.ts';
import { status as answersWith } from '../../../src/testing.ts';
import { onOneGateway, oneTeam } from '../../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';

// The package also includes the other version of the API, which takes long to load.
const { Translate } = createRequire(import.meta.url)('@google-cloud/translate/build/src/v2/index.js') as typeof Google;

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/google-v2', options: { key_in_query: true } }] } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => {
    vi.stubEnv('GOOGLE_CLOUD_TRANSLATE_ENDPOINT', `http://127.0.0.1:${setting.gateway.port}/language/translate/v2`);
    setting.engine.forget();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  /** With its own retries, but shorter delays. */
  const SHORT_DELAYS = { retryOptions: { maxRetryDelay: 0.05 } };
  const client = (key = team.key, more: object = {}): Google.Translate => new Translate({ key, ...SHORT_DELAYS, ...more });
  const charged = (of: TestTeam) => setting.gateway.charged(of);
  const failing = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => undefined,
      (error: unknown) => error,
    );

  test('a refusal becomes an error of its own type with our message, and is not retried', async () => {
    const gone = await setting.gateway.team();
    answered(await setting.gateway.store.teams.revokeKey(gone.keyId));
    for (const key of ['nonsense', `la_live_${'x'.repeat(40)}`, gone.key]) {
      for (const call of [() => client(key).translate('a', 'de'), () => client(key).detect('a'), () => client(key).getLanguages()]) {
        const error = await failing(call());
        expect(error).toMatchObject({ code: 400, errors: [{ reason: 'API_KEY_INVALID' }] });
        // Once, without repeating the message.
        expect((error as Error).message).toMatch(/^API key not valid\. [^\n]+$/);
      }
    }
    const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 4 });
    const broke = await setting.gateway.team(CREDIT_PLAN, 0);
    for (const { key } of [poor, broke]) {
      expect(await failing(client(key).translate('Hello', 'de'))).toMatchObject({ code: 403, errors: [{ reason: 'dailyLimitExceeded' }] });
    }
    expect(await failing(client().translate('a', 'zh-TW'))).toMatchObject({ code: 400, errors: [{ reason: 'invalid' }] });
    expect(await failing(client().translate('a', { to: 'de', model: 'custom' }))).toMatchObject({
      code: 400,
      message: expect.stringContaining('model') as string,
    });
    expect(await failing(client().getLanguages('zz'))).toMatchObject({ code: 400 });
    expect(setting.engine.requests).toEqual([]);
    for (const one of [poor, gone]) expect(await charged(one)).toBe(0);
  });

  test('it retries 429s and an unavailable engine until they are answered, and is charged once', async () => {
    const slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
    const patient = client(slow.key, { retryOptions: { maxRetryDelay: 1.1 }, maxRetries: 8 });
    const texts = await Promise.all([1, 2].map(async () => (await patient.translate('Hello', 'de'))[0]));
    expect(texts).toEqual(['[DE] Hello', '[DE] Hello']);
    await expect.poll(() => charged(slow)).toBe(10);
    const own = await setting.gateway.team();
    setting.engine.behave('reset', 'not_json', answersWith(500), 'reset');
    expect((await client(own.key).translate('Hello', 'de'))[0]).toBe('[DE] Hello');
    expect(setting.engine.requests.length).toBeGreaterThanOrEqual(5);
    await expect.poll(() => charged(own)).toBe(5);
    setting.engine.always('reset');
    expect(await failing(client(own.key, { autoRetry: false }).translate('Hello', 'de'))).toMatchObject({
      code: 503,
      errors: [{ reason: 'backendError' }],
    });
    await expect.poll(() => charged(own)).toBe(5);
  });
});
