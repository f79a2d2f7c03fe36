// The same rules for every API: limit, quota, credit, revocation and release, over every front, listener and store.
import { afterEach, describe, expect, test } from 'vitest';
import { describeRoutes } from '../support/door/tables.ts';
import { loadConfig } from '../support/door/gateways.ts';
import { answered } from '../../src/index.ts';
import { CANARY } from '../../src/testing.ts';
import { onEveryGateway } from '../support/every-gateway.ts';
import { DEEPL, FACADES, FRONTS, LIBRETRANSLATE, V1 } from '../support/fronts.ts';
import type { Front, FrontRequest, RefusalCode } from '../support/fronts.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { KeyChange } from '../../src/ports/team-registry.ts';
import type { TestTeam } from '../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const UNKNOWN_KEY = `la_live_${'x'.repeat(40)}`;
/** Each costs five characters. */
const HELLO = ['Hello'];
// Nothing here may end by another deadline than the one that is tested.
/** The names of all members, in order. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
}

const config = { plugins: FACADES, engine: { timeout_ms: 20_000 } };

onEveryGateway({ config }, (setting) => {
  afterEach(() => setting.engine.forget());

  const send = (asked: FrontRequest): Promise<HttpResponse> => request({ port: setting.gateway.port, ...asked });
  const translate = (front: Front, { key }: Pick<TestTeam, 'key'>, text: readonly string[] = HELLO): Promise<HttpResponse> =>
    send(front.translation(key, text));
  const expectRefusal = (front: Front, response: HttpResponse, code: RefusalCode): void => {
    expect([front.name, response.status, response.body]).toEqual([front.name, front.statuses[code], expect.any(String)]);
    expect(response.body).not.toContain(CANARY);
  };
  const changeKey = async ({ keyId }: TestTeam, change: KeyChange) => answered(await setting.gateway.store.teams.updateKey(keyId, change));
  const balanceMicro = async ({ teamId }: TestTeam): Promise<number> =>
    answered(await setting.gateway.store.teams.findTeam(teamId))!.balanceMicro;

  /** Statuses of this many concurrent requests of a new team within a second, `fronts` in turn. */
  function burst(
    fronts: readonly Front[],
    requests: number,
    plan: typeof QUOTA_PLAN,
    prepare: (team: TestTeam) => Promise<unknown> = async () => undefined,
  ): Promise<(readonly [Front, HttpResponse])[]> {
    return withinASecond(async () => {
      const team = await setting.gateway.team(plan);
      await prepare(team);
      return Promise.all(
        Array.from({ length: requests }, async (_, i) => {
          const front = fronts[i % fronts.length]!;
          return [front, await translate(front, team)] as const;
        }),
      );
    });
  }

  describe.each(FRONTS)('over $name', (front) => {
    test('a translation is answered with its texts and charged to the character', async () => {
      const team = await setting.gateway.team();
      const response = await translate(front, team, ['Hello', 'grüße 😀']);
      expect([response.status, front.texts(response.body)]).toEqual([200, ['[DE] Hello', '[DE] grüße 😀']]);
      await expect.poll(() => setting.gateway.charged(team)).toBe(12);
    });

    test('of more requests within a second exactly as many are admitted as the plan allows', async () => {
      const answers = await burst([front], 8, { ...QUOTA_PLAN, requests_per_second: 5 });
      const refused = answers.filter(([, { status }]) => status !== 200);
      expect(refused).toHaveLength(3);
      for (const [, response] of refused) {
        expectRefusal(front, response, 'rate_limited');
        expect(response.body).toMatch(
          front === LIBRETRANSLATE ? /^\{"error":"Slowdown: 5 per 1 second"\}$/ : /At most 5 requests .* for the team/,
        );
        expect([response.header('retry-after'), response.header('x-ratelimit-limit')]).toEqual(['1', '5']);
      }
    });

    test('a window of the team and one of the key refuse until they end, and a text that never fits for good', async () => {
      // A month does not end while a test runs, or not twice.
      const team = await setting.gateway.team({ ...QUOTA_PLAN, limits: [{ per: 'month', characters: 10 }] });
      expectRefusal(front, await translate(front, team, ['x'.repeat(11)]), 'quota_exceeded');
      for (const status of [200, 200]) expect((await translate(front, team)).status).toBe(status);
      const ofKey = await setting.gateway.team();
      await changeKey(ofKey, { limits: { windows: 'requests=1/month' } });
      expect((await translate(front, ofKey)).status).toBe(200);
      for (const [one, limit] of [
        [team, '10'],
        [ofKey, '1'],
      ] as const) {
        const response = await translate(front, one);
        expectRefusal(front, response, 'rate_limited');
        expect([Number(response.header('retry-after')) > 0, response.header('x-ratelimit-limit')]).toEqual([true, limit]);
      }
    });

    test('a request refused for its content takes a slot of the rate but no characters', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 3 });
      expectRefusal(front, await send(front.translation(team.key, ['a'], 'zz')), 'invalid_target_lang');
      expectRefusal(front, await translate(front, team), 'text_too_long');
      expect(setting.engine.requests).toHaveLength(0);
      expect(await setting.gateway.charged(team)).toBe(0);
      const plan = { ...QUOTA_PLAN, requests_per_second: 1, max_characters_per_request: 3 };
      const answers = await burst([front], 2, plan);
      const statuses = answers.map(([, { status }]) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([front.statuses.text_too_long, 429].toSorted((a, b) => a - b));
    });

    test('a request whose end is unclear is refused in the form of the API that it is for', async () => {
      const team = await setting.gateway.team();
      const { path, headers } = front.translation(team.key, HELLO);
      const malformed = await send({ ...front.translation(team.key, HELLO), body: '[' });
      const connection = await RawConnection.open({ port: setting.gateway.port });
      // Neither a length nor chunks.
      connection.send(
        `POST ${path} HTTP/1.1\r\nHost: test\r\n${Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n`,
      );
      const unsized = await connection.response();
      connection.destroy();
      expectRefusal(front, unsized, 'validation_error');
      expect(unsized.body).toContain('Content-Length: a POST needs it');
      expect([unsized.header('content-type'), shapeOf(unsized.json())]).toEqual([
        malformed.header('content-type'),
        shapeOf(malformed.json()),
      ]);
    });

    test('as many texts as a request may have are translated, in their order, and charged', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 100_000, max_characters_per_request: 10_000 });
      const text = Array.from({ length: front.textsMax }, (_none, i) => `text ${i}`);
      const response = await translate(front, team, text);
      expect([response.status, front.texts(response.body)]).toEqual([200, text.map((one) => `[DE] ${one}`)]);
      // No engine gets more at once than a request to `/v1` may have.
      const sent = setting.engine.requests.map(({ body }) => (JSON.parse(body) as { text: string[] }).text);
      expect([sent.flat().toSorted(), sent.every((piece) => piece.length <= 50)]).toEqual([text.toSorted(), true]);
      await expect.poll(() => setting.gateway.charged(team)).toBe(text.join('').length);
      if (front.textsMax <= 50) return;
      // One piece that fails twice fails all of them, without a charge.
      setting.engine.always((received, answer) => {
        const { text: piece } = JSON.parse(received.body) as { readonly text: readonly string[] };
        if (piece.includes('text 0')) answer.destroy();
        else answer.end(JSON.stringify({ translations: piece.map((one) => ({ text: one })) }));
      });
      expectRefusal(front, await translate(front, team, text), 'engine_unavailable');
      await expect.poll(() => setting.gateway.charged(team)).toBe(text.join('').length);
    });

    test('too many texts are reported as such, however many, except in a form of more than 1,000 fields', async () => {
      const team = await setting.gateway.team();
      for (const count of [front.textsMax + 1, Math.max(front.textsMax, 1000) + 1, 60_000]) {
        const text = Array.from({ length: count }, () => 'a');
        const asked = front.translation(team.key, text);
        // The key of a long body is looked for in its beginning.
        const headers = { ...asked.headers, authorization: `Bearer ${team.key}` };
        const bodies = [{ contentType: asked.headers['content-type']!, body: asked.body }];
        if (front.otherBody !== undefined) bodies.push(front.otherBody(text));
        for (const { contentType, body } of bodies) {
          const response = await send({ ...asked, headers: { ...headers, 'content-type': contentType }, body });
          const isForm = contentType.endsWith('urlencoded') && count > 1000;
          expectRefusal(front, response, isForm ? 'validation_error' : 'too_many_texts');
          expect(response.body).toContain(isForm ? 'body: a form may have at most 1000 fields' : String(front.textsMax));
          if (!isForm) expect(response.body).not.toMatch(/body:|may hold at most 5000/);
        }
      }
      expect(setting.engine.requests).toHaveLength(0);
      expect(await setting.gateway.charged(team)).toBe(0);
    });

    test('a quota is used up to its last character and not beyond, however many requests compete', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 17 });
      const answers = await Promise.all(Array.from({ length: 6 }, () => translate(front, team)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(3);
      for (const response of refused) expectRefusal(front, response, 'quota_exceeded');
      for (const { body } of refused) expect(body).toContain('left for the team');
      await expect.poll(() => setting.gateway.charged(team)).toBe(15);
      expect((await translate(front, team, ['ab'])).status).toBe(200);
      expectRefusal(front, await translate(front, team, ['a']), 'quota_exceeded');
    });

    test('credit pays for as many as it covers, to the millionth', async () => {
      // A character costs 2,500 millionths of a minor unit: one minor unit is 400 of them.
      const team = await setting.gateway.team(CREDIT_PLAN, 1);
      const text = ['x'.repeat(150)];
      const answers = await Promise.all(Array.from({ length: 4 }, () => translate(front, team, text)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
      for (const response of answers.filter(({ status }) => status !== 200)) expectRefusal(front, response, 'credit_exhausted');
      await expect.poll(() => balanceMicro(team)).toBe(250_000);
    });

    test('a revoked key is refused at the next request, whatever the request says; an unknown one always', async () => {
      const team = await setting.gateway.team();
      expect((await translate(front, team)).status).toBe(200);
      answered(await setting.gateway.store.teams.revokeKey(team.keyId));
      expectRefusal(front, await translate(front, team), 'key_revoked');
      expectRefusal(front, await send(front.translation(team.key, ['a'], 'zz')), 'key_revoked');
      expectRefusal(front, await translate(front, { key: UNKNOWN_KEY }), 'unauthorized');
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
    });

    test('a key that is disabled, expired or bound to other addresses is refused, and works again when that is undone', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 25 });
      const unknown = await translate(front, { key: UNKNOWN_KEY });
      for (const [change, code, words] of [
        [{ disabled: true }, 'key_revoked', /disabled/],
        [{ limits: { expiresAtMs: 1 } }, 'key_revoked', /expired/],
        [{ limits: { allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'] } }, 'unauthorized', /address/],
      ] as const) {
        await changeKey(team, change);
        const refused = [await translate(front, team), await send(front.translation(team.key, ['a'], 'zz'))];
        for (const response of refused) expectRefusal(front, response, code);
        for (const { body } of refused) expect(body).toMatch(words);
        for (const response of refused)
          expect(response.header('www-authenticate')).toBe(code === 'unauthorized' ? unknown.header('www-authenticate') : undefined);
        await changeKey(team, { disabled: false, limits: { expiresAtMs: null, allowedAddresses: ['127.0.0.1'] } });
        expect((await translate(front, team)).status).toBe(200);
      }
      // The cache has learnt that the address is needed, and keeps that even when it no longer is.
      await changeKey(team, { limits: { allowedAddresses: null } });
      expect((await translate(front, team)).status).toBe(200);
      await expect.poll(() => setting.gateway.charged(team)).toBe(20);
      expect(setting.engine.requests).toHaveLength(4);
    });

    test('a key whose scopes do not cover the front is refused before the rate, which it does not touch, and works again with them', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 2 });
      await changeKey(team, { limits: { scopes: ['languages:read', 'glossaries:write', 'forward:text'] } });
      const refused = await Promise.all(Array.from({ length: 4 }, () => translate(front, team)));
      refused.push(await send(front.translation(team.key, ['a'], 'zz')));
      for (const response of refused) expectRefusal(front, response, 'forbidden');
      for (const { body } of refused) expect(body).toContain('translate:text');
      if (front === V1 || front === DEEPL) {
        expect(JSON.parse(refused[0]!.body)).toMatchObject({ code: 'forbidden', missing_scopes: ['translate:text'] });
      }
      const [record] = answered(await setting.gateway.store.teams.listKeys(team.teamId))!;
      expect(record!.lastUsedAtMs).toBeUndefined();
      await changeKey(team, { limits: { scopes: ['translate:text'] } });
      expect((await translate(front, team)).status).toBe(200);
      await changeKey(team, { limits: { scopes: ['translate:document'] } });
      expectRefusal(front, await translate(front, team), 'forbidden');
      await changeKey(team, { limits: { scopes: null } });
      expect((await translate(front, team)).status).toBe(200);
      await expect.poll(() => setting.gateway.charged(team)).toBe(10);
    });

    test('a key’s own characters end before the team’s, whoever used the rest', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 1000 });
      await changeKey(team, { limits: { characters: 12 } });
      const answers = await Promise.all(Array.from({ length: 5 }, () => translate(front, team)));
      const refused = answers.filter(({ status }) => status !== 200);
      expect(refused).toHaveLength(3);
      for (const response of refused) expectRefusal(front, response, 'quota_exceeded');
      for (const { body } of refused) expect(body).toContain('left for this key');
      await expect.poll(() => setting.gateway.charged(team)).toBe(10);
      if (front === V1) {
        expect(JSON.parse(refused[0]!.body)).toMatchObject({
          character_limit: 12,
          overage_cap_minor: 0,
          period_end: expect.any(String) as string,
        });
      }
      await changeKey(team, { limits: { characters: 15 } });
      expect((await translate(front, team)).status).toBe(200);
      await changeKey(team, { limits: { characters: null } });
      expect((await translate(front, team)).status).toBe(200);
    });

    test('a key’s own rate is reported with its limit, and what it refuses takes no slot of the team’s', async () => {
      const own = { limits: { requestsPerSecond: 2 } };
      const answers = await burst([front], 5, { ...QUOTA_PLAN, requests_per_second: 50 }, (team) => changeKey(team, own));
      const refused = answers.filter(([, { status }]) => status !== 200);
      expect(refused).toHaveLength(3);
      for (const [, response] of refused) {
        expectRefusal(front, response, 'rate_limited');
        expect(response.body).toMatch(front === LIBRETRANSLATE ? /Slowdown: 2 / : /At most 2 requests .* for this key/);
        expect([response.header('retry-after'), response.header('x-ratelimit-limit')]).toEqual(['1', '2']);
      }
    });

    test('an engine that fails twice costs nothing, and what was reserved can be used again', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 5 });
      setting.engine.behave('not_json', 'reset');
      const failed = await translate(front, team);
      expectRefusal(front, failed, 'engine_unavailable');
      expect([failed.header('retry-after'), setting.engine.requests.length]).toEqual(['5', 2]);
      await expect.poll(() => setting.gateway.charged(team)).toBe(0);
      setting.engine.behave('one_too_few');
      expect((await translate(front, team)).status).toBe(200);
      await expect.poll(() => setting.gateway.charged(team)).toBe(5);
    });

    test('a caller who leaves aborts the engine call, pays nothing, and leaves nothing reserved', async () => {
      const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 5 });
      setting.engine.always('hang');
      const connection = await RawConnection.open({ port: setting.gateway.port });
      connection.send(requestBytes(front.translation(team.key, HELLO)));
      await setting.engine.until(() => setting.engine.requests.length === 1);
      connection.reset();
      await setting.engine.until(() => setting.engine.requests[0]!.aborted);
      await expect.poll(() => setting.gateway.charged(team)).toBe(0);
      expect(setting.engine.requests).toHaveLength(1);
      setting.engine.forget();
      expect((await translate(front, team)).status).toBe(200);
    });
  });

  test('all fronts share one rate', async () => {
    const answers = await burst(FRONTS, 9, { ...QUOTA_PLAN, requests_per_second: 4 });
    expect(answers.filter(([, { status }]) => status === 200)).toHaveLength(4);
    for (const [front, response] of answers) if (response.status !== 200) expectRefusal(front, response, 'rate_limited');
  });

  test('all fronts share one quota', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, characters: 24 });
    const answers = await Promise.all(FRONTS.flatMap((front) => [front, front, front]).map((front) => translate(front, team)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    await expect.poll(() => setting.gateway.charged(team)).toBe(20);
  });
});

test('facades change nothing about our own routes: the same steps in the same order', async () => {
  const bare = loadConfig({ file: undefined, env: {}, flags: {} });
  const plugins = FACADES.map(({ module, options = {} }) => ({ module, from: import.meta.filename, options }));
  const ours = await describeRoutes(bare);
  const withFacades = await describeRoutes({ ...bare, plugins });
  expect(withFacades.slice(0, ours.length)).toEqual(ours);
  expect(withFacades.length).toBeGreaterThan(ours.length);
});
