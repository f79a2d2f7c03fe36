// Translations with a glossary: its entries reach the engine, and an unsuitable glossary is refused without charge.
import { ulid } from 'ulid';
import { beforeAll, expect, test } from 'vitest';
import { GlossaryAnswer, TranslateAnswer } from '../support/door/tables.ts';
import { ask, expectAnswer, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const ENTRIES = { gateway: 'canary-term', été: '“Sommer”' };

onOneGateway({}, (setting) => {
  const team = oneTeam(setting, { ...QUOTA_PLAN, max_glossaries: 100 });
  let id: string;

  const create = async ({ key }: TestTeam): Promise<string> => {
    const body = { name: 'n', source_lang: 'EN', target_lang: 'DE', entries: ENTRIES };
    const response = await ask(setting, { method: 'POST', path: '/v1/glossaries', key, body });
    return String(expectAnswer(response, GlossaryAnswer, 201)['glossary_id']);
  };
  const translate = ({ key }: TestTeam, glossary: string, change: Readonly<Record<string, unknown>> = {}): Promise<HttpResponse> => {
    const body = { text: ['Hello'], source_lang: 'EN', target_lang: 'DE', glossary_id: glossary, ...change };
    return ask(setting, { method: 'POST', path: '/v1/translate', key, body });
  };
  const standing = ({ teamId }: TestTeam) => setting.gateway.store.teams.standing(teamId);

  beforeAll(async () => {
    id = await create(team);
  });

  test('the engine receives id and entries with the request, every time and in both attempts', async () => {
    setting.engine.forget();
    expectAnswer(await translate(team, id), TranslateAnswer);
    expectAnswer(await translate(team, id.toLowerCase(), { source_lang: 'en', target_lang: 'de' }), TranslateAnswer);
    setting.engine.behave('not_json');
    expectAnswer(await translate(team, id), TranslateAnswer);
    expect(setting.engine.requests).toHaveLength(4);
    for (const { body } of setting.engine.requests) {
      expect(JSON.parse(body)).toEqual({ text: ['Hello'], source_lang: 'EN', target_lang: 'DE', glossary: { id, entries: ENTRIES } });
    }
  });

  test('concurrent translations with a glossary that was never used before all carry it', async () => {
    const fresh = await create(team);
    setting.engine.forget();
    const responses = await Promise.all(Array.from({ length: 30 }, () => translate(team, fresh)));
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    const carried = setting.engine.requests.map(({ body }) => (JSON.parse(body) as { glossary: unknown }).glossary);
    // On a busy machine some take their second attempt, which carries it, too.
    expect(carried.length).toBeGreaterThanOrEqual(30);
    expect(carried).toEqual(carried.map(() => ({ id: fresh, entries: ENTRIES })));
  });

  test('a request without a glossary carries none', async () => {
    setting.engine.forget();
    expectAnswer(await translate(team, id, { glossary_id: undefined }), TranslateAnswer);
    expect(JSON.parse(setting.engine.requests[0]!.body)).not.toHaveProperty('glossary');
  });

  test('400 without source_lang, for another pair, an invalid id, an unknown id and another team’s: never sent, never charged', async () => {
    const poor = await setting.gateway.team();
    const own = await create(poor);
    setting.engine.forget();
    for (const [glossary, change, detail] of [
      [own, { source_lang: undefined }, /^source_lang: is required/],
      [own, { target_lang: 'FR' }, /^glossary_id: the glossary's languages/],
      [own, { source_lang: 'DE', target_lang: 'EN-GB' }, /^glossary_id: the glossary's languages/],
      ['terms', {}, /^glossary_id: the team has no glossary/],
      [ulid(), {}, /^glossary_id: the team has no glossary/],
      [id, {}, /^glossary_id: the team has no glossary/],
    ] as const) {
      expect(expectProblem(await translate(poor, glossary, change), 'validation_error')).toMatch(detail);
    }
    expect(setting.engine.requests).toHaveLength(0);
    expect(await standing(poor)).toMatchObject({ usedCharacters: 0, heldCharacters: 0, openReservations: 0 });
  });

  test('a deleted glossary is refused at the next translation, although its entries were cached', async () => {
    const fresh = await setting.gateway.team();
    const gone = await create(fresh);
    expectAnswer(await translate(fresh, gone), TranslateAnswer);
    await expect.poll(() => standing(fresh)).toMatchObject({ usedCharacters: 5, heldCharacters: 0 });
    expect((await ask(setting, { method: 'DELETE', path: `/v1/glossaries/${gone}`, key: fresh.key })).status).toBe(204);
    expect(expectProblem(await translate(fresh, gone), 'validation_error')).toMatch(/^glossary_id: /);
    expect(await standing(fresh)).toMatchObject({ usedCharacters: 5, heldCharacters: 0, openReservations: 0 });
  });

  test('no term and no translation of a glossary is ever logged', () => {
    const everything = setting.gateway.logLines.join('');
    expect(everything).toContain('POST /v1/glossaries');
    expect(everything).not.toContain('canary-term');
    expect(everything).not.toContain('été');
  });
});
