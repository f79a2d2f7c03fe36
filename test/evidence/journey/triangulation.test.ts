// Our adapters call our own facades in front of a real engine: both ends agree on each API, down to the account balance.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { startApertium } from '../../support/apertium.ts';
import type { Apertium } from '../../support/apertium.ts';
import { FACADES, V1 } from '../../support/fronts.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';

interface Answer {
  readonly translations: readonly { readonly text: string; readonly detected_source_language?: string }[];
}

/** Apertium is slow at first, and nothing may be shed or time out here. */
const PATIENT = { timeout_ms: 15_000 };
const LONG_LEASE = { reservation_seconds: 120 };

let apertium: Apertium;
let folder: string;
/** The gateway before the engine, which speaks every facade's API. */
let inner: TestGateway;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-triangle-'));
  apertium = await startApertium();
  inner = await startGateway({
    store: `sqlite:${folder}/inner.db`,
    engineUrls: [apertium.url],
    config: { engine: { ...PATIENT, protocol: 'apertium' }, limits: LONG_LEASE, plugins: FACADES },
  });
});

afterAll(async () => {
  await inner.stop();
  await apertium.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(['libretranslate', 'deepl'])('the engine protocol %s in front of our facade', (protocol) => {
  /** The team on the inner gateway: the outer gateway is its caller. */
  let account: TestTeam;
  let outer: TestGateway;
  let team: TestTeam;

  beforeAll(async () => {
    // Slightly more characters than the tests use.
    account = await inner.team({ ...QUOTA_PLAN, characters: 200 });
    outer = await startGateway({
      listener: 'node',
      store: `sqlite:${folder}/${protocol}.db`,
      engineUrls: [`http://127.0.0.1:${inner.port}`],
      // The gateway in front of this engine has its own request ids.
      config: {
        engine: { ...PATIENT, protocol, options: { api_key: account.key }, check_ids: false },
        limits: LONG_LEASE,
        plugins: FACADES,
      },
    });
    team = await outer.team();
  });

  afterAll(() => outer.stop());

  const post = (path: string, body: unknown, { key } = team): Promise<HttpResponse> =>
    request({
      port: outer.port,
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  const translate = async (body: object): Promise<Answer> => {
    const response = await post('/v1/translate', body);
    expect([response.status, response.body]).toEqual([200, expect.any(String)]);
    return response.json() as Answer;
  };
  const used = async (gateway: TestGateway, { teamId }: TestTeam): Promise<number | undefined> => {
    const standing = answered(await gateway.store.teams.standing(teamId));
    return standing?.openReservations === 0 ? standing.usedCharacters : undefined;
  };

  test('a list is translated as Apertium translates it, and both gateways charge the same', async () => {
    const text = ['The house is big.', 'The dog & the cat\nare black.', ' '];
    const direct = await request({ port: inner.port, ...V1.translation((await inner.team()).key, text, 'ES') });
    const { translations } = await translate({ text, source_lang: 'EN', target_lang: 'ES' });
    expect(translations.map((one) => one.text)).toEqual(V1.texts(direct.body));
    expect(translations[0]!.text).toBe('La casa es grande.');
    await expect.poll(() => used(outer, team)).toBe(17 + 28 + 1);
    // White space alone need not reach an engine: one adapter handles it itself.
    await expect.poll(() => used(inner, account)).toBe(protocol === 'libretranslate' ? 17 + 28 : 17 + 28 + 1);
  });

  test('a variant of a target is mapped through both lists of codes', async () => {
    const { translations } = await translate({ text: ['La casa es grande.'], source_lang: 'ES', target_lang: 'EN-US' });
    expect(translations[0]!.text).toBe('The house is big.');
  });

  test('the engine detects an unspecified source language, two gateways away', async () => {
    const { translations } = await translate({ text: ['The house is very big and the dogs are black.'], target_lang: 'ES' });
    expect(translations[0]).toMatchObject({ detected_source_language: 'EN' });
    // Asked of the next gateway's /detect, or reported by a translation if the API between them has no detection.
    const detected = await post('/detect', { q: 'La casa es muy grande y los perros son negros.' });
    expect(detected.json()).toEqual([{ confidence: 100, language: 'es' }]);
  });

  test('a refusal of the inner gateway is an engine failure, passes on none of its words, and costs the outer caller nothing', async () => {
    const own = await outer.team();
    // More than the rest of the quota.
    const response = await post('/v1/translate', { text: ['The house is big. '.repeat(12)], source_lang: 'EN', target_lang: 'ES' }, own);
    expect([response.status, response.json()]).toEqual([503, expect.objectContaining({ code: 'engine_unavailable' })]);
    await expect.poll(() => used(outer, own)).toBe(0);
    const failure = protocol === 'deepl' ? '"failure":"engine_quota","status":456' : '"failure":"status","status":403';
    await expect.poll(() => outer.logLines.some((line) => line.includes(`"pair":"EN-ES",${failure}`))).toBe(true);
    // Every charged character was delivered.
    await expect.poll(() => used(inner, account)).toBeLessThanOrEqual(200);
    expect(outer.logLines.join('')).not.toContain(account.key);
  });
});
