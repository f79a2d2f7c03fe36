// The rules of a glossary's body over real sockets, in their order, each naming what violates it.
import { expect, test } from 'vitest';
import { GlossaryAnswer } from '../support/door/tables.ts';
import { ask, expectAnswer, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const PATH = '/v1/glossaries';
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
});

function numbered(count: number): [string, string][] {
  return Array.from({ length: count }, (_, i) => [`term ${i}`, `Begriff ${i}`]);
}
