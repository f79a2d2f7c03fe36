// A team's glossaries with DeepL as the engine: stored there for it, by two gateways, removed with the team; what DeepL
// does not take goes to another engine, or is a 400 that names the glossary.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { uuidOf } from '../../support/door/terms.ts';
import { startDeepLServer } from '../../support/deepl-server.ts';
import type { DeepLServer } from '../../support/deepl-server.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { request } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const TIMEOUT_MS = 20_000;
const LIMITS = { reservation_seconds: 60 };

describe('over SQLite', () => {
  const started = startedUntil(afterAll);
  let deepl: DeepLServer;
  /** The first two have DeepL alone, the third another engine behind it. */
  let gateways: readonly TestGateway[];

  beforeAll(async () => {
    deepl = await startDeepLServer({ unreadyFor: () => 1 });
    started.closes(() => deepl.close());
    const [other, place] = [await started.engine(), await started.place('sqlite')];
    const options = { api_key: deepl.key };
    const alone = {
      engine: { protocol: 'deepl', options, timeout_ms: TIMEOUT_MS },
      plugins: [{ module: 'lingate/plugins/deepl-v2' }],
      limits: LIMITS,
    };
    const both = {
      engines: {
        vendor: { protocol: 'deepl', urls: [deepl.url], options, timeout_ms: TIMEOUT_MS },
        own: { protocol: 'native', urls: [other.url], timeout_ms: TIMEOUT_MS },
      },
      limits: LIMITS,
    };
    const start = (config: Readonly<Record<string, unknown>>) =>
      started.gateway({ listener: LISTENERS[0], store: place.url, engineUrls: [deepl.url], config });
    gateways = [await start(alone), await start(alone), await start(both)];
  });

  const post = ({ port }: TestGateway, path: string, { key }: TestTeam, body: unknown): Promise<HttpResponse> =>
    request({
      port,
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const glossaryOf = async (team: TestTeam, entries: Readonly<Record<string, string>>, targetLang = 'DE'): Promise<string> => {
    const response = await post(gateways[0]!, '/v1/glossaries', team, { name: 'g', source_lang: 'EN', target_lang: targetLang, entries });
    expect(response.status).toBe(201);
    return (JSON.parse(response.body) as { glossary_id: string }).glossary_id;
  };
  const translate = (at: number, team: TestTeam, glossaryId: string, targetLang = 'DE'): Promise<HttpResponse> =>
    post(gateways[at]!, '/v1/translate', team, { text: ['house'], source_lang: 'EN', target_lang: targetLang, glossary_id: glossaryId });
  const textOf = ({ status, body }: HttpResponse): unknown =>
    status === 200 ? (JSON.parse(body) as { translations: readonly { text: string }[] }).translations[0]!.text : [status, body];
  const usedBy = (team: TestTeam) => gateways[0]!.charged(team);

  test('two gateways translate with it at once, and one dictionary of the team is there', async () => {
    const team = await gateways[0]!.team();
    const glossaryId = await glossaryOf(team, { house: 'Haus' });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => translate(i % 2, team, glossaryId)));
    expect(answers.map(textOf)).toEqual(answers.map(() => 'Haus'));
    expect(deepl.names.filter((name) => name.includes(team.teamId))).toHaveLength(1);
    await expect.poll(() => usedBy(team)).toBe(100);
    for (const id of deepl.stored.keys()) deepl.stored.delete(id);
    expect(textOf(await translate(0, team, glossaryId))).toBe('Haus');
    expect(deepl.broken).toEqual([]);
  });

  test('teams with the same dictionary have one each, and what a team changes is used from then on', async () => {
    const [one, two] = [await gateways[0]!.team(), await gateways[0]!.team()];
    for (const team of [one, two]) expect(textOf(await translate(0, team, await glossaryOf(team, { house: 'Heim' })))).toBe('Heim');
    expect(deepl.names.filter((name) => name.includes(one.teamId) || name.includes(two.teamId))).toHaveLength(2);
    expect(textOf(await translate(1, one, await glossaryOf(one, { house: 'Bau' })))).toBe('Bau');
  });

  test('DeepL’s own routes in front of it use it too', async () => {
    const team = await gateways[0]!.team();
    const glossaryId = await glossaryOf(team, { house: 'Villa' });
    const response = await post(gateways[0]!, '/v2/translate', team, {
      text: ['house'],
      source_lang: 'EN',
      target_lang: 'DE',
      glossary_id: uuidOf(glossaryId),
    });
    expect(textOf(response)).toBe('Villa');
  });

  test.each([
    ['of one language on both sides', { house: 'home' }, 'EN-GB'],
    ['in a language without dictionaries there', { house: 'maja' }, 'ET'],
  ])(
    'one %s is a 400 that names it, costs nothing, and goes to the other engine where there is one',
    async (_name, entries, targetLang) => {
      const team = await gateways[0]!.team();
      const glossaryId = await glossaryOf(team, entries, targetLang);
      for (let i = 0; i < 2; i++) {
        const refused = await translate(0, team, glossaryId, targetLang);
        expect([refused.status, refused.body]).toEqual([400, expect.stringMatching(/"validation_error".*glossary_id: /)]);
      }
      await expect.poll(() => usedBy(team)).toBe(0);
      expect(textOf(await translate(2, team, glossaryId, targetLang))).toBe(`[${targetLang}] house`);
    },
  );

  test('a deleted team leaves nothing there', async () => {
    const team = await gateways[0]!.team();
    await translate(0, team, await glossaryOf(team, { house: 'Haus' }));
    await translate(1, team, await glossaryOf(team, { house: 'Heim' }));
    expect(deepl.names.filter((name) => name.includes(team.teamId))).toHaveLength(2);
    const by = { actor: 'cli:test@test', action: 'deleteTeam' } as const;
    expect(answered(await gateways[0]!.store.teams.deleteTeam(team.teamId, { keepUsage: false }, by))).toBe(true);
    await expect.poll(() => deepl.names.filter((name) => name.includes(team.teamId))).toEqual([]);
  });
});
