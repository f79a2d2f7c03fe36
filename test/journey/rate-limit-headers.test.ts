// `RateLimit-Policy` and `RateLimit` over real sockets: on every answer after the admission if enabled; otherwise on none (unit/docs/answers).
import { expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { status } from '../../src/testing.ts';
import { ask, expectProblem, onEveryGateway } from '../support/every-gateway.ts';
import type { Ask } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const TRANSLATE: Ask = { method: 'POST', path: '/v1/translate', body: { text: ['Hello'], target_lang: 'DE' } };

function fieldsOf(response: HttpResponse): unknown {
  return [response.header('ratelimit-policy'), response.header('ratelimit')];
}

const standing = (limit: number, left: number) => [`"requests";q=${limit};w=1`, `"requests";r=${left};t=1`];

onEveryGateway({ config: { limits: { rate_limit_headers: true } } }, (setting) => {
  test('every answer after the admission has the number of requests left: 200, 201, 204, 400, 402, 403, 404, 503', async () => {
    // So many that no slot is freed in between: a second is not over before the last of these requests.
    const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 100, max_glossaries: 1, characters: 100 });
    setting.engine.forget();
    setting.engine.behave('ok', status(500), status(500));
    const glossary = { name: 'n', source_lang: 'EN', target_lang: 'DE', entries: { a: 'b' } };
    const asks: [number, Ask][] = [
      [200, TRANSLATE],
      [503, TRANSLATE],
      [200, { path: '/v1/languages' }],
      [200, { path: '/v1/usage' }],
      [400, { ...TRANSLATE, body: '{' }],
      [400, { ...TRANSLATE, body: { text: ['x'.repeat(1001)], target_lang: 'DE' } }],
      [402, { ...TRANSLATE, body: { text: ['x'.repeat(101)], target_lang: 'DE' } }],
      [201, { method: 'POST', path: '/v1/glossaries', body: glossary }],
      [403, { method: 'POST', path: '/v1/glossaries', body: glossary }],
      [404, { path: '/v1/glossaries/none' }],
    ];
    const seen: unknown[] = [];
    let location = '';
    for (const [expected, desired] of asks) {
      const response = await ask(setting, { ...desired, key: team.key });
      expect([desired, response.status]).toEqual([desired, expected]);
      location = response.header('location') ?? location;
      seen.push(...(fieldsOf(response) as unknown[]));
    }
    const deleted = await ask(setting, { method: 'DELETE', path: location, key: team.key });
    expect(deleted.status).toBe(204);
    seen.push(...(fieldsOf(deleted) as unknown[]));
    expect(exactOrLater(seen, 100)).toBe(true);
  });

  test('20 concurrent requests get each number of free slots once, and a 429 gets none', async () => {
    const responses = await withinASecond(async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 8 });
      return Promise.all(Array.from({ length: 20 }, () => ask(setting, { path: '/v1/languages', key: team.key })));
    });
    const good = responses.filter((response) => response.status === 200);
    expect(good.map((response) => String(response.header('ratelimit'))).toSorted()).toEqual(
      Array.from({ length: 8 }, (_, left) => standing(8, left)[1]),
    );
    for (const response of responses.filter((one) => one.status !== 200)) {
      expectProblem(response, 'rate_limited', { limit: 8 });
      expect(fieldsOf(response)).toEqual(standing(8, 0));
      expect([response.header('retry-after'), response.header('x-ratelimit-limit')]).toEqual(['1', '8']);
    }
  });

  test('answers given before the rate check have no such fields: 401, 404, 405, health', async () => {
    const revoked = await setting.gateway.team();
    answered(await setting.gateway.store.teams.revokeKey(revoked.keyId));
    const asks: Ask[] = [
      { path: '/v1/usage' },
      { path: '/v1/usage', key: revoked.key },
      { path: '/none' },
      { method: 'PUT', path: '/v1/usage' },
      { path: '/health' },
    ];
    for (const desired of asks) expect(fieldsOf(await ask(setting, desired))).toEqual([undefined, undefined]);
  });
});

/** One slot less with each answer, unless a slow machine took a second and slots were freed. */
function exactOrLater(seen: readonly unknown[], limit: number): boolean {
  const left = seen.filter((_, index) => index % 2 === 1).map((field) => Number(/^"requests";r=(\d+);t=1$/.exec(String(field))?.[1]));
  const policies = seen.filter((_, index) => index % 2 === 0);
  return (
    policies.every((policy) => policy === standing(limit, 0)[0]) &&
    left.every((positions, index) => positions >= limit - 1 - index && positions < limit)
  );
}
