// Glossaries over real sockets: created, shown, listed and deleted, and used by translations; on both listeners and stores.
import { ulid } from 'ulid';
import { expect, test } from 'vitest';
import { GlossariesAnswer, GlossaryAnswer, GlossaryEntriesAnswer } from '../support/door/tables.ts';
import { answered } from '../../src/index.ts';
import { ask, expectAnswer, expectProblem, onEveryGateway, oneTeam } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { withinASecond } from '../support/within-a-second.ts';

const PATH = '/v1/glossaries';
const GOOD = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { gateway: 'Tor' } };
const ROOMY = { ...QUOTA_PLAN, max_glossaries: 1000 };

onEveryGateway({}, (setting) => {
  const team = oneTeam(setting, ROOMY);

  const create = (key: string, body: unknown = GOOD): Promise<HttpResponse> => ask(setting, { method: 'POST', path: PATH, key, body });
  const get = (key: string, path: string): Promise<HttpResponse> => ask(setting, { path: `${PATH}${path}`, key });
  const remove = (key: string, id: string): Promise<HttpResponse> => ask(setting, { method: 'DELETE', path: `${PATH}/${id}`, key });
  const made = async (key: string, body: unknown = GOOD): Promise<string> =>
    String(expectAnswer(await create(key, body), GlossaryAnswer, 201)['glossary_id']);

  test('a glossary is created, shown, listed, read and deleted', async () => {
    const { key } = await setting.gateway.team();
    expect(expectAnswer(await get(key, ''), GlossariesAnswer)).toEqual({ glossaries: [] });
    const before = Date.now();
    const response = await create(key, { ...GOOD, source_lang: 'en', target_lang: 'pt-br', name: ' Terms ' });
    const glossary = expectAnswer(response, GlossaryAnswer, 201);
    const { glossary_id: id, created_at: createdAt } = glossary;
    expect(Object.entries(glossary)).toEqual([
      ['glossary_id', id],
      ['name', 'Terms'],
      ['source_lang', 'EN'],
      ['target_lang', 'PT-BR'],
      ['entry_count', 1],
      ['created_at', createdAt],
    ]);
    expect(Date.parse(String(createdAt))).toBeGreaterThanOrEqual(before - 1000);
    expect(response.header('location')).toBe(`${PATH}/${String(id)}`);

    expect(expectAnswer(await ask(setting, { path: response.header('location')!, key }), GlossaryAnswer)).toEqual(glossary);
    expect(expectAnswer(await get(key, `/${String(id).toLowerCase()}`), GlossaryAnswer)).toEqual(glossary);
    const second = expectAnswer(await create(key), GlossaryAnswer, 201);
    expect(expectAnswer(await get(key, ''), GlossariesAnswer)).toEqual({ glossaries: [glossary, second] });
    expect(expectAnswer(await get(key, `/${String(id)}/entries`), GlossaryEntriesAnswer)).toEqual({ entries: { gateway: 'Tor' } });

    const deleted = await remove(key, String(id));
    expect([deleted.status, deleted.body, deleted.header('content-type')]).toEqual([204, '', undefined]);
    expect(deleted.header('cache-control')).toBe('no-store');
    expect(deleted.header('x-request-id')).toBeDefined();
    expectProblem(await remove(key, String(id)), 'glossary_not_found');
    expect(expectAnswer(await get(key, ''), GlossariesAnswer)).toEqual({ glossaries: [second] });
  });

  test('entries are returned as they were sent, except for white space around them', async () => {
    const sent =
      '{"  gateway ":"\\tTor\\n","10":"zehn","2":"zwei","__proto__":"Prototyp","été 👍":"Sommer “x” \\\\ $1","two words":"zwei  Wörter"}';
    const id = await made(team.key, `{"name":"n","source_lang":"EN","target_lang":"DE","entries":${sent}}`);
    const { entries } = expectAnswer(await get(team.key, `/${id}/entries`), GlossaryEntriesAnswer) as { entries: Record<string, string> };
    expect(Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ['10', 'zehn'],
      ['2', 'zwei'],
      ['__proto__', 'Prototyp'],
      ['gateway', 'Tor'],
      ['two words', 'zwei  Wörter'],
      ['été 👍', 'Sommer “x” \\ $1'],
    ]);
  });

  test('403 glossary_limit_reached, exactly at the limit with 20 concurrent creations, and only for valid bodies', async () => {
    const small = await setting.gateway.team({ ...QUOTA_PLAN, max_glossaries: 3 });
    const responses = await Promise.all(Array.from({ length: 20 }, () => create(small.key)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const response of responses.filter(({ status }) => status !== 201)) {
      expectProblem(response, 'glossary_limit_reached', { max_glossaries: 3 });
    }
    expectProblem(await create(small.key, { ...GOOD, name: '' }), 'validation_error');
    const { glossaries } = expectAnswer(await get(small.key, ''), GlossariesAnswer) as { glossaries: { glossary_id: string }[] };
    expect((await remove(small.key, glossaries[0]!.glossary_id)).status).toBe(204);
    await made(small.key);
    expectProblem(await create(small.key), 'glossary_limit_reached', { max_glossaries: 3 });
  });

  test('404 glossary_not_found for an invalid id, for an unknown id, and for another team’s, which stays', async () => {
    const stranger = await setting.gateway.team();
    const id = await made(team.key);
    for (const [key, unknown] of [
      [team.key, 'terms'],
      [team.key, 'entries'],
      [team.key, `${id.slice(0, -1)}%41`],
      [team.key, `8${id.slice(1)}`],
      [team.key, ulid()],
      [stranger.key, id],
    ] as const) {
      const answers = [await get(key, `/${unknown}`), await get(key, `/${unknown}/entries`), await remove(key, unknown)];
      // Another team's glossary looks the same as none.
      expect(new Set(answers.map((answer) => expectProblem(answer, 'glossary_not_found'))).size).toBe(1);
    }
    expectAnswer(await get(team.key, `/${id}`), GlossaryAnswer);
  });

  test('405 names the methods of each path, and a malformed path is 404, before any key is checked', async () => {
    const id = ulid();
    for (const [method, path, allow] of [
      ['PUT', PATH, 'POST, GET'],
      ['DELETE', PATH, 'POST, GET'],
      ['POST', `${PATH}/${id}`, 'GET, DELETE'],
      ['HEAD', `${PATH}/${id}`, 'GET, DELETE'],
      ['DELETE', `${PATH}/${id}/entries`, 'GET'],
      ['POST', '/v1/usage', 'GET'],
      ['OPTIONS', '/v1/languages', 'GET'],
    ] as const) {
      const response = await ask(setting, { method, path });
      expect([method, path, response.status, response.header('allow')]).toEqual([method, path, 405, allow]);
      if (method !== 'HEAD') expectProblem(response, 'method_not_allowed');
    }
    for (const path of [
      `${PATH}/`,
      `${PATH}/${id}/`,
      `${PATH}/${id}/entries/`,
      `${PATH}//entries`,
      `${PATH}/${id}/Entries`,
      '/v1/usage/',
    ]) {
      expectProblem(await ask(setting, { path }), 'not_found');
    }
  });

  const routes = [
    { method: 'POST', path: PATH, body: { name: 7 } },
    { path: PATH },
    { path: `${PATH}/none` },
    { path: `${PATH}/none/entries` },
    { method: 'DELETE', path: `${PATH}/none` },
    { path: '/v1/usage' },
    { path: '/v1/languages?type=x' },
  ];

  test('every route requires a key, reports a revoked one, and takes a slot of the rate before it says anything else', async () => {
    let slow: TestTeam;
    const revoked = await setting.gateway.team();
    answered(await setting.gateway.store.teams.revokeKey(revoked.keyId));
    for (const route of routes) {
      expectProblem(await ask(setting, route), 'unauthorized');
      expectProblem(await ask(setting, { ...route, key: revoked.key }), 'key_revoked');
      const answers = await withinASecond(async () => {
        slow = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
        return Promise.all([1, 2, 3].map(() => ask(setting, { ...route, key: slow.key })));
      });
      const limited = answers.filter(({ status }) => status === 429);
      expect(limited).toHaveLength(2);
      for (const answer of limited) expectProblem(answer, 'rate_limited', { limit: 1 });
    }
    const [key] = answered(await setting.gateway.store.teams.listKeys(slow!.teamId))!;
    expect(key?.lastUsedAtMs).toBeDefined();
  });
});
