// Tokens of `lingate/plugins/azure-v3`: exchanged for a key as at Azure, they are judged as that key by every gateway of the store,
// expire, and appear nowhere.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { startScriptedEngine } from '../../src/testing.ts';
import type { KeyChange } from '../../src/ports/team-registry.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { storedIn } from '../evidence/security/places.ts';
import { combinations } from '../support/every-gateway.ts';
import { QUOTA_PLAN, startGateway } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import { request } from '../support/raw-http.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { storePlace } from '../support/store-place.ts';
import type { StorePlace } from '../support/store-place.ts';
import { withinASecond } from '../support/within-a-second.ts';

const KEY_FIELD = 'ocp-apim-subscription-key';
const TOKEN = /^la_token_[\w-]{88}$/;
const EXCHANGE = '/sts/v1.0/issueToken';
const ADDRESSES = { loopback: '127.0.0.0/8', elsewhere: '192.0.2.0/24' };

type Fields = Readonly<Record<string, string>>;

describe.each(combinations({ once: true }))('$listener listener, $store store', ({ listener, store }) => {
  let place: StorePlace;
  let engine: ScriptedEngine;
  /** The second takes keys in the query. */
  let gateways: readonly [TestGateway, TestGateway];

  beforeAll(async () => {
    [place, engine] = await Promise.all([storePlace(store), startScriptedEngine()]);
    const start = (options: object) =>
      startGateway({
        listener,
        store: place.url,
        engineUrls: [engine.url],
        config: { plugins: [{ module: 'lingate/plugins/azure-v3', options }], engine: { timeout_ms: 20_000 } },
      });
    gateways = [await start({}), await start({ key_in_query: true })];
  });

  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await engine.close();
    await place.remove();
  });

  const post = ({ port }: TestGateway, path: string, headers: Fields, body = ''): Promise<HttpResponse> =>
    request({ port, method: 'POST', path, headers: { ...headers, 'content-type': 'application/json' }, body });
  const exchange = (gateway: TestGateway, headers: Fields, query = ''): Promise<HttpResponse> => post(gateway, EXCHANGE + query, headers);
  const tokenFor = async ({ key }: TestTeam, gateway = gateways[0]): Promise<string> => {
    const response = await exchange(gateway, { [KEY_FIELD]: key });
    expect([response.status, response.header('content-type'), response.body]).toEqual([
      200,
      'text/plain; charset=utf-8',
      expect.stringMatching(TOKEN),
    ]);
    expect(response.header('cache-control')).toBe('no-store');
    return response.body;
  };
  const translate = (authorization: string, gateway = gateways[0], more: Fields = {}): Promise<HttpResponse> =>
    post(gateway, '/translate?api-version=3.0&from=en&to=de', { authorization, ...more }, '[{"Text":"Hello"}]');
  const codeOf = ({ status, body }: HttpResponse): unknown => [status, (JSON.parse(body) as { error: { code: number } }).error.code];
  const changed = async ({ keyId }: TestTeam, change: KeyChange): Promise<unknown> =>
    answered(await gateways[0].store.teams.updateKey(keyId, change));

  test('a key is exchanged as Azure takes it, and only where the operator allows it in the query', async () => {
    const [one, other] = gateways;
    const { key } = await one.team();
    for (const headers of [{ [KEY_FIELD]: key }, { authorization: `Bearer ${key}` }]) {
      for (const gateway of gateways) expect((await exchange(gateway, headers)).status).toBe(200);
    }
    expect(codeOf(await exchange(one, {}, `?Subscription-Key=${key}`))).toEqual([401, 401_000]);
    expect((await exchange(other, {}, `?Subscription-Key=${key}`)).body).toMatch(TOKEN);
    expect((await post(other, `/sts/v1.0/issuetoken?Subscription-Key=${key}`, {})).body).toMatch(TOKEN);
    expect(
      (await request({ port: one.port, method: 'POST', path: EXCHANGE, headers: { [KEY_FIELD]: key, 'content-length': '0' } })).status,
    ).toBe(200);
    expect(codeOf(await exchange(one, {}))).toEqual([401, 401_000]);
    expect(codeOf(await exchange(one, { [KEY_FIELD]: `la_live_${'x'.repeat(40)}` }))).toEqual([401, 401_000]);
    expect((await request({ port: one.port, path: EXCHANGE, headers: { [KEY_FIELD]: key } })).status).toBe(405);
  });

  test('a token translates and detects at every gateway of the store, charged to its key', async () => {
    const team = await gateways[0].team();
    const token = await tokenFor(team);
    for (const gateway of gateways) {
      const response = await translate(`Bearer ${token}`, gateway);
      expect([response.status, response.body]).toEqual([200, '[{"translations":[{"text":"[DE] Hello","to":"de"}]}]']);
      expect(response.header('x-metered-usage')).toBe('5');
    }
    expect((await translate(`bearer   ${token}`)).status).toBe(200);
    const below = await post(
      gateways[0],
      '/translator/text/v3.0/translate?api-version=3.0&to=de',
      { authorization: `Bearer ${token}` },
      '[{"Text":"x"}]',
    );
    expect(below.status).toBe(200);
    const usage = async () => answered(await gateways[0].store.teams.usage(team.teamId))!.keys;
    await expect.poll(async () => (await usage())[0]?.characters).toBe(16);
    expect((await usage())[0]!.lastUsedAtMs).toEqual(expect.any(Number));
  });

  test('it is no key anywhere else', async () => {
    const team = await gateways[0].team();
    const token = await tokenFor(team);
    const v1 = await post(gateways[0], '/v1/translate', { authorization: `Bearer ${token}` }, '{"text":["x"],"target_lang":"DE"}');
    expect(v1.status).toBe(401);
    expect(codeOf(await exchange(gateways[0], { authorization: `Bearer ${token}` }))).toEqual([401, 401_000]);
    expect(codeOf(await exchange(gateways[0], { [KEY_FIELD]: token }))).toEqual([401, 401_000]);
    expect(codeOf(await translate(`DeepL-Auth-Key ${token}`))).toEqual([401, 401_000]);
  });

  test('whatever is judged of the key is judged of its tokens, at the next request', async () => {
    const [one, other] = gateways;
    const team = await one.team();
    const token = await tokenFor(team, other);
    expect((await translate(`Bearer ${token}`)).status).toBe(200);
    await changed(team, { disabled: true });
    for (const gateway of gateways) expect(codeOf(await translate(`Bearer ${token}`, gateway))).toEqual([401, 401_000]);
    expect(codeOf(await exchange(one, { [KEY_FIELD]: team.key }))).toEqual([401, 401_000]);
    await changed(team, { disabled: false, limits: { allowedAddresses: [ADDRESSES.elsewhere] } });
    expect(codeOf(await translate(`Bearer ${token}`))).toEqual([401, 401_000]);
    await changed(team, { limits: { allowedAddresses: [ADDRESSES.loopback] } });
    expect((await translate(`Bearer ${token}`)).status).toBe(200);
    answered(await one.store.teams.revokeKey(team.keyId));
    for (const gateway of gateways) expect(codeOf(await translate(`Bearer ${token}`, gateway))).toEqual([401, 401_000]);
  });

  test('quota and rate are the team’s; an exchange takes a slot of the rate and costs nothing', async () => {
    const [one] = gateways;
    const poor = await one.team({ ...QUOTA_PLAN, characters: 7 });
    const token = await tokenFor(poor);
    expect((await translate(`Bearer ${token}`)).status).toBe(200);
    expect(codeOf(await translate(`Bearer ${token}`))).toEqual([403, 403_001]);
    const answers = await withinASecond(async () => {
      const slow = await one.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      return Promise.all(Array.from({ length: 3 }, () => exchange(one, { [KEY_FIELD]: slow.key })));
    });
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429, 429]);
    expect(codeOf(answers.find(({ status }) => status === 429)!)).toEqual([429, 429_001]);
  });

  test('a token that was altered, or belongs to another store, is a 401 that says what to do', async () => {
    const team = await gateways[0].team();
    const token = await tokenFor(team);
    const elsewhere = await storePlace(store);
    const foreign = await startGateway({
      listener,
      store: elsewhere.url,
      engineUrls: [engine.url],
      config: { plugins: [{ module: 'lingate/plugins/azure-v3' }] },
    });
    try {
      for (const bad of [await tokenFor(await foreign.team(), foreign), token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA')]) {
        const response = await translate(`Bearer ${bad}`);
        expect([codeOf(response), response.body]).toEqual([[401, 401_000], expect.stringContaining('/sts/v1.0/issueToken')]);
        expect(response.header('www-authenticate')).toContain('Bearer realm=');
      }
      expect(codeOf(await translate(`Bearer ${token}`, foreign))).toEqual([401, 401_000]);
    } finally {
      await foreign.stop();
      await elsewhere.remove();
    }
  });

  test('the key’s field is ignored beside a token, as beside any Authorization', async () => {
    const [one, team] = [gateways[0], await gateways[0].team()];
    const token = await tokenFor(team);
    const other = await one.team();
    expect((await translate(`Bearer ${token}`, one, { [KEY_FIELD]: other.key })).status).toBe(200);
    answered(await one.store.teams.revokeKey(team.keyId));
    expect(codeOf(await translate(`Bearer ${token}`, one, { [KEY_FIELD]: other.key }))).toEqual([401, 401_000]);
  });

  test('neither a token nor a key in the query is in a log, a metric or the store', async () => {
    const [one, other] = gateways;
    const team = await one.team();
    const token = (await exchange(other, {}, `?Subscription-Key=${team.key}`)).body;
    expect((await translate(`Bearer ${token}`, other)).status).toBe(200);
    await translate(`Bearer ${token.slice(0, -1)}`, other);
    const metrics = await request({ port: other.opsPort, path: '/metrics' });
    const places: readonly (string | Uint8Array)[] = [
      ...gateways.map(({ logLines }) => logLines.join('')),
      metrics.body,
      ...(await storedIn(place.url)).map(({ content }) => content),
    ];
    for (const content of places)
      for (const secret of [token, token.slice(9), team.key]) expect(Buffer.from(content as Uint8Array).includes(secret)).toBe(false);
  });
});
