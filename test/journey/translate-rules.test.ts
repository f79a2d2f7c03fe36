// The rules of a translation's body over real sockets, in their order, each naming what violates it; what is accepted, as the engine gets it.
import { expect, test } from 'vitest';
import type { ProblemCode } from '../../src/core/problem.ts';
import { ask, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const GOOD = { text: ['Hello'], target_lang: 'DE' };
const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const letters = (count: number, text = 'a'): string[] => Array.from({ length: count }, () => text);

onOneGateway({}, (setting) => {
  const team = oneTeam(setting);

  const translate = (body: unknown): Promise<HttpResponse> => ask(setting, { method: 'POST', path: '/v1/translate', key: team.key, body });

  test.each<[what: string, body: unknown, detail: string, code?: ProblemCode]>([
    ['no object', 5, 'body:'],
    ['null', null, 'body:'],
    ['a list', [], 'body:'],
    ['an unknown parameter', { ...GOOD, target_language: 'DE' }, 'target_language'],
    ['an unknown parameter before all else', { ...GOOD, bad: 1, text: [] }, 'bad'],
    ['a __proto__ member', '{"text":["a"],"target_lang":"DE","__proto__":{}}', '__proto__'],
    ['no text', { target_lang: 'DE' }, 'text:'],
    ['a text that is no list', { ...GOOD, text: 'Hello' }, 'text:'],
    ['an empty list', { ...GOOD, text: [] }, 'text:'],
    ['51 texts', { ...GOOD, text: letters(51) }, 'text:', 'too_many_texts'],
    ['51 texts, the first empty', { ...GOOD, text: letters(51, '') }, 'text:', 'too_many_texts'],
    ['an entry that is no string', { ...GOOD, text: ['a', 5] }, 'text[1]:'],
    ['an empty entry, before a wrong target', { text: ['a', ''], target_lang: 'X' }, 'text[1]:'],
    ['half a surrogate pair', '{"text":["a\\ud800"],"target_lang":"DE"}', 'text[0]:'],
    ['no target_lang', { text: ['a'] }, 'target_lang:', 'invalid_target_lang'],
    ['a target that is no string', { ...GOOD, target_lang: 5 }, 'target_lang:', 'invalid_target_lang'],
    ['a base with variants', { ...GOOD, target_lang: 'EN', source_lang: 'X' }, 'target_lang:', 'invalid_target_lang'],
    ['a regional source', { ...GOOD, source_lang: 'EN-GB', formality: 'X' }, 'source_lang:', 'invalid_source_lang'],
    ['a source that is null', { ...GOOD, source_lang: null }, 'source_lang:', 'invalid_source_lang'],
    ['an empty source', { ...GOOD, source_lang: '' }, 'source_lang:', 'invalid_source_lang'],
    ['an unknown formality', { ...GOOD, formality: 'formal' }, 'formality:'],
    ['a formality that is null', { ...GOOD, formality: null }, 'formality:'],
    ['more without support', { ...GOOD, target_lang: 'EN-GB', formality: 'more' }, 'formality:'],
    ['a context too long', { ...GOOD, context: '👍'.repeat(2001) }, 'context:'],
    ['a context that is no string', { ...GOOD, context: ['x'] }, 'context:'],
    ['a context with half a pair', '{"text":["a"],"target_lang":"DE","context":"\\udc00"}', 'context:'],
    ['a glossary that is no string', { ...GOOD, source_lang: 'EN', glossary_id: 5 }, 'glossary_id:'],
    ['a glossary that is no ULID', { ...GOOD, source_lang: 'EN', glossary_id: 'x' }, 'glossary_id:'],
    ['a glossary without source_lang', { ...GOOD, glossary_id: ULID }, 'source_lang:'],
  ])('400 for %s, naming what is wrong', async (_what, body, detail, code = 'validation_error') => {
    const response = await translate(body);
    const { detail: answer, ...rest } = JSON.parse(response.body) as { readonly detail: string; readonly max_texts?: number };
    expectProblem(response, code, rest.max_texts === undefined ? {} : { max_texts: 50 });
    expect(answer).toContain(detail);
  });

  test('unknown names are shown truncated and without control characters', async () => {
    const detail = expectProblem(await translate({ ...GOOD, ['a\r\nb']: 1, ['y'.repeat(500)]: 1, c: 1, d: 1 }), 'validation_error');
    expect(detail).toContain('a??b');
    expect(detail).toContain('and 1 more');
    expect(detail.length).toBeLessThan(250);
  });

  test.each<[what: string, body: object, sent: object]>([
    ['codes become canonical', { target_lang: 'en-gb', source_lang: 'de' }, { target_lang: 'EN-GB', source_lang: 'DE' }],
    ['a formality', { target_lang: 'DE', formality: 'more' }, { target_lang: 'DE', formality: 'more' }],
    ['the default is left out', { target_lang: 'DE', formality: 'default' }, { target_lang: 'DE' }],
    ['a preferred one', { target_lang: 'DE', formality: 'prefer_less' }, { target_lang: 'DE', formality: 'prefer_less' }],
    ['a preferred one without support', { target_lang: 'EN-GB', formality: 'prefer_less' }, { target_lang: 'EN-GB' }],
    ['the longest context', { target_lang: 'DE', context: '👍'.repeat(2000) }, { target_lang: 'DE', context: '👍'.repeat(2000) }],
  ])('accepted: %s', async (_what, body, sent) => {
    setting.engine.forget();
    const text = letters(50, 'Hé👍');
    expect((await translate({ text, ...body })).json()).toMatchObject({ billed_characters: 150 });
    expect(JSON.parse(setting.engine.requests[0]!.body)).toEqual({ text, ...sent });
  });
});
