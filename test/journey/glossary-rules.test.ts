// The rules of a glossary's body over real sockets, in their order, each naming what violates it; and what translations make of one.
import { ulid } from 'ulid';
import { beforeAll, describe, expect, test } from 'vitest';
import { GlossaryAnswer, TranslateAnswer } from '../support/door/tables.ts';
import { ask, expectAnswer, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const PATH = '/v1/glossaries';
const ENTRIES = { gateway: 'canary-term', été: '“Sommer”' };
const GOOD = { name: 'Terms', source_lang: 'EN', target_lang: 'DE', entries: { gateway: 'Tor' } };

onOneGateway({}, (setting) => {
  const team = oneTeam(setting, { ...QUOTA_PLAN, max_glossaries: 100 });

  const create = (body: unknown): Promise<HttpResponse> => ask(setting, { method: 'POST', path: PATH, key: team.key, body });

  /** Each breaks every rule from the named one on, so that the first rule must be the one that answers. */
  test.each<[string, unknown, 'validation_error' | 'invalid_source_lang' | 'invalid_target_lang', RegExp]>([
    ['no JSON', '{"name":', 'validation_error', /^body: /],
    ['no object', [GOOD], 'validation_error', /^body: must be a JSON object/],
    ['nothing', '', 'validation_error', /^body: /],
    ['an unknown member first of all', { name: '', source: 'EN', target: 'DE' }, 'validation_error', /source, target.*Accepted are name/],
    ['no name', { source_lang: 'XX' }, 'validation_error', /^name: must be a string/],
    ['an invalid name', { ...GOOD, name: 7, source_lang: 'XX' }, 'validation_error', /^name: must be a string/],
    ['an empty name', { ...GOOD, name: ' \n ', source_lang: 'XX' }, 'validation_error', /^name: must not be empty/],
    ['a name of two lines', { ...GOOD, name: 'a\nb', source_lang: 'XX' }, 'validation_error', /^name: .*line breaks/],
    ['half a surrogate pair', '{"name":"\\ud800","source_lang":"XX"}', 'validation_error', /^name: .*Unicode/],
    ['a name too long', { ...GOOD, name: '👍'.repeat(201), source_lang: 'XX' }, 'validation_error', /^name: .*200/],
    ['no source_lang', { name: 'n', target_lang: 'XX' }, 'invalid_source_lang', /^source_lang: /],
    ['a variant as source_lang', { ...GOOD, source_lang: 'EN-GB', target_lang: 'XX' }, 'invalid_source_lang', /^source_lang: /],
    ['no target_lang', { name: 'n', source_lang: 'EN', entries: 7 }, 'invalid_target_lang', /^target_lang: /],
    ['a base that is not a target', { ...GOOD, target_lang: 'PT', entries: {} }, 'invalid_target_lang', /^target_lang: /],
    ['no entries', { name: 'n', source_lang: 'EN', target_lang: 'DE' }, 'validation_error', /^entries: must be an object/],
    ['a list of entries', { ...GOOD, entries: [['a', 'b']] }, 'validation_error', /^entries: must be an object/],
    ['an empty glossary', { ...GOOD, entries: {} }, 'validation_error', /^entries: must hold at least one/],
    ['an empty term', { ...GOOD, entries: { a: 'b', '': 'x' } }, 'validation_error', /^entries\[""\]: a term must not be empty/],
    ['a term of spaces', { ...GOOD, entries: { '   ': 'x' } }, 'validation_error', /^entries\["   "\]: a term must not be empty/],
    [
      'an empty translation',
      { ...GOOD, entries: { a: 'b', gate: '' } },
      'validation_error',
      /^entries\["gate"\]: its translation must not/,
    ],
    ['a translation of spaces', { ...GOOD, entries: { gate: ' ' } }, 'validation_error', /^entries\["gate"\]: its translation must not/],
    ['a number', { ...GOOD, entries: { gate: 1 } }, 'validation_error', /^entries\["gate"\]: its translation must be a string/],
    ['null', { ...GOOD, entries: { gate: null } }, 'validation_error', /^entries\["gate"\]: its translation must be a string/],
    ['a term of two lines', { ...GOOD, entries: { 'a\nb': 'x' } }, 'validation_error', /^entries\["a\?b"\]: a term .*line breaks/],
    ['a tab within', { ...GOOD, entries: { gate: 'a\tb' } }, 'validation_error', /^entries\["gate"\]: its translation .*control/],
    ['a term too long', { ...GOOD, entries: { ['x'.repeat(501)]: 'x' } }, 'validation_error', /^entries\["x{40}…"\]: a term .*500/],
    ['a translation too long', { ...GOOD, entries: { gate: '👍'.repeat(501) } }, 'validation_error', /^entries\["gate"\]: .*500/],
    ['one term twice', { ...GOOD, entries: { gate: 'x', ' gate': 'x' } }, 'validation_error', /^entries\[" gate"\]: .*twice/],
    [
      'half a surrogate pair in a term',
      '{"name":"n","source_lang":"EN","target_lang":"DE","entries":{"\\ud800":"x"}}',
      'validation_error',
      /Unicode/,
    ],
    ['too many', { ...GOOD, entries: Object.fromEntries(numbered(5001)) }, 'validation_error', /^entries: .*5000 .*5001/],
  ])('400 for %s, naming what is wrong', async (_what, body, code, detail) => {
    expect(expectProblem(await create(body), code)).toMatch(detail);
  });

  test('white space around name, terms and translations is dropped, white space within stays', async () => {
    const body = { ...GOOD, name: '\n Terms ', entries: { '\u00a0two  words\t': ' zwei  Wörter\r\n' } };
    const made = expectAnswer(await create(body), GlossaryAnswer, 201);
    expect(made['name']).toBe('Terms');
    const entries = await ask(setting, { path: `${PATH}/${String(made['glossary_id'])}/entries`, key: team.key });
    expect(entries.json()).toEqual({ entries: { 'two  words': 'zwei  Wörter' } });
  });

  test('every limit is exact to the character and the entry', async () => {
    const entries = { ['👍'.repeat(500)]: '👍'.repeat(500) };
    expectAnswer(await create({ ...GOOD, name: '👍'.repeat(200), entries }), GlossaryAnswer, 201);
    const large = expectAnswer(await create({ ...GOOD, entries: Object.fromEntries(numbered(5000)) }), GlossaryAnswer, 201);
    expect(large['entry_count']).toBe(5000);
  });

  test('another media type, a content coding and a body over the limit are refused', async () => {
    const post = { method: 'POST', path: PATH, key: team.key, body: GOOD };
    expect(expectProblem(await ask(setting, { ...post, headers: { 'content-type': 'text/plain' } }), 'validation_error')).toMatch(
      /^Content-Type/,
    );
    expect(expectProblem(await ask(setting, { ...post, headers: { 'content-encoding': 'gzip' } }), 'validation_error')).toMatch(
      /^Content-Encoding/,
    );
    const big = { ...GOOD, entries: { a: 'x'.repeat(1_048_576) } };
    expect(expectProblem(await create(big), 'validation_error')).toMatch(/^body: may be at most 1048576/);
  });

  describe('a translation with one', () => {
    let id: string;

    const made = async ({ key }: TestTeam): Promise<string> => {
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
      id = await made(team);
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
      const fresh = await made(team);
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
      const own = await made(poor);
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
      const gone = await made(fresh);
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
});

function numbered(count: number): [string, string][] {
  return Array.from({ length: count }, (_, i) => [`term ${i}`, `Begriff ${i}`]);
}
