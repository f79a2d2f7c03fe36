// Bodies of glossary requests: languages by their base codes, dictionaries in JSON and in forms, and everything that is refused.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Languages } from '../../../../src/domain/languages.ts';
import { judgeDictionaries, judgeDictionary, judgeName } from '../../../../src/plugins/deepl-v2/glossary-body.ts';
import { languagePairs } from '../../../../src/plugins/deepl-v2/glossary-answer.ts';
import type { Judged } from '../../../../src/plugins/facades/members.ts';

const named = (...codes: string[]) => codes.map((code) => ({ code, name: code, formality: false }));
const languages = new Languages({ sources: named('DE', 'EN', 'ZH'), targets: named('DE', 'EN-GB', 'EN-US', 'ZH', 'ZH-HANT') });

const members = (of: object): ReadonlyMap<string, unknown> => new Map(Object.entries(of));

function verdict<T>(judged: Judged<T>): unknown {
  return 'sound' in judged ? judged.sound : `${judged.problem.code}: ${judged.problem.detail}`;
}

const DICTIONARY = { source_lang: 'en', target_lang: 'DE', entries: 'a\tb' };

describe('the languages of a dictionary', () => {
  test.each([
    ['en', 'de', 'EN', 'DE'],
    ['EN-gb', 'de', 'EN', 'DE'],
    ['de', 'EN', 'DE', 'EN'],
    ['de', 'en-us', 'DE', 'EN'],
    ['de', 'zh-hant', 'DE', 'ZH'],
    ['zh-hant', 'de', 'ZH', 'DE'],
  ])('%s to %s become %s and %s', (source_lang, target_lang, sourceLang, targetLang) => {
    expect(verdict(judgeDictionary(members({ ...DICTIONARY, source_lang, target_lang }), languages))).toMatchObject({
      sourceLang,
      targetLang,
    });
  });

  test.each<[change: object, code: string]>([
    [{ source_lang: 'xx' }, 'invalid_source_lang'],
    [{ source_lang: 'en-xx' }, 'invalid_source_lang'],
    [{ source_lang: undefined }, 'invalid_source_lang'],
    [{ source_lang: ['en'] }, 'invalid_source_lang'],
    [{ target_lang: 'xx' }, 'invalid_target_lang'],
    [{ target_lang: 'en-au' }, 'invalid_target_lang'],
    [{ target_lang: '' }, 'invalid_target_lang'],
    [{ target_lang: 7 }, 'invalid_target_lang'],
    [{ target_lang: 'constructor' }, 'invalid_target_lang'],
  ])('%j are refused', (change, code) => {
    const field = code.replace('invalid_', '');
    expect(verdict(judgeDictionary(members({ ...DICTIONARY, ...change }), languages))).toBe(`${code}: Value for '${field}' not supported.`);
  });

  test('the pairs have different base codes, and each occurs once', () => {
    const pairs = languagePairs(languages).map(({ sourceLang, targetLang }) => `${sourceLang} ${targetLang}`);
    expect(pairs).toEqual(['DE EN', 'DE ZH', 'EN DE', 'EN ZH', 'ZH DE', 'ZH EN']);
  });
});

describe('a dictionary', () => {
  test('is TSV by default, and its rows name languages by their base codes', () => {
    const csv = { ...DICTIONARY, entries: 'a,b,EN-GB,de', entries_format: 'CSV' };
    expect(verdict(judgeDictionary(members(csv), languages))).toEqual({ sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } });
    expect(verdict(judgeDictionary(members({ ...csv, entries: 'a,b,zh,de' }), languages))).toMatch(/languages/);
  });

  test.each<[change: object, words: RegExp]>([
    [{ entries: undefined }, /'entries': there must be at least one/],
    [{ entries: { a: 'b' } }, /'entries' must be a string/],
    [{ entries: ['a\tb', 'c\td'] }, /'entries' must be a string, given once/],
    [{ entries_format: 'xlsx' }, /entries_format/],
    [{ entries_format: ['tsv', 'tsv'] }, /entries_format/],
  ])('%j is refused', (change, words) => {
    expect(verdict(judgeDictionary(members({ ...DICTIONARY, ...change }), languages))).toMatch(words);
  });
});

describe('a name', () => {
  test.each([
    ['Terms', 'Terms'],
    ['  Pläne, “7” 🪵 ', 'Pläne, “7” 🪵'],
  ])('%j is accepted', (name, expected) => {
    expect(verdict(judgeName(members({ name })))).toBe(expected);
  });

  test.each<[unknown, RegExp]>([
    [undefined, /^validation_error: 'name' is empty/],
    ['', /'name' is empty/],
    [' \n ', /'name' is empty/],
    ['a\nb', /'name' contains a line break/],
    ['a'.repeat(1025), /'name' is longer than 1024 bytes/],
    [['a', 'b'], /'name' must be a string/],
    [7, /'name' must be a string/],
    ['\ud800', /surrogate/],
  ])('%j is refused', (name, words) => {
    expect(verdict(judgeName(members({ name })))).toMatch(words);
  });
});

describe('several dictionaries', () => {
  const [EN_DE, DE_EN] = [DICTIONARY, { source_lang: 'de', target_lang: 'en', entries: 'b\ta' }];
  const sound = [
    { sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } },
    { sourceLang: 'DE', targetLang: 'EN', entries: { b: 'a' } },
  ];

  test('may be a list', () => {
    expect(verdict(judgeDictionaries(members({ dictionaries: [EN_DE, DE_EN] }), languages))).toEqual(sound);
    expect(verdict(judgeDictionaries(members({ dictionaries: [] }), languages))).toEqual([]);
    expect(verdict(judgeDictionaries(members({}), languages))).toEqual([]);
  });

  test('may be numbered fields of a form, in any order', () => {
    const form = {
      'dictionaries[10].entries': 'b\ta',
      'dictionaries[2].entries': 'a\tb',
      'dictionaries[2].source_lang': 'en',
      'dictionaries[10].target_lang': 'en',
      'dictionaries[2].target_lang': 'de',
      'dictionaries[10].source_lang': 'de',
      'dictionaries[2].anything': 'x',
      'dictionaries[x].entries': 'no number',
      'dictionaries[2]': 'no member',
    };
    expect(verdict(judgeDictionaries(members(form), languages))).toEqual(sound);
  });

  test.each<[given: object, words: RegExp]>([
    [{ dictionaries: 'x' }, /'dictionaries' must be an array/],
    [{ dictionaries: { 0: EN_DE } }, /'dictionaries' must be an array/],
    [{ dictionaries: [null] }, /'dictionaries\[0\]' must be an object/],
    [{ dictionaries: [EN_DE, 'x'] }, /'dictionaries\[1\]' must be an object/],
    [{ dictionaries: [[]] }, /source_lang/],
    [{ dictionaries: [EN_DE, { ...DE_EN, entries: 'x' }] }, /line 1/],
    [{ dictionaries: [EN_DE, { ...EN_DE, source_lang: 'EN-GB' }] }, /'dictionaries\[1\]' has the same languages as another/],
    [{ dictionaries: Array.from({ length: 101 }, () => EN_DE) }, /'dictionaries' may have at most 100/],
    [{ 'dictionaries[0].entries': 'a\tb' }, /source_lang/],
  ])('%j is refused', (given, words) => {
    expect(verdict(judgeDictionaries(members(given), languages))).toMatch(words);
  });
});

describe('any body', () => {
  const CODES = ['validation_error', 'invalid_source_lang', 'invalid_target_lang'];
  const nearly = (...right: readonly unknown[]): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...right) }, { weight: 1, arbitrary: fc.jsonValue() });
  const dictionary = fc.record(
    {
      source_lang: nearly('en', 'DE', 'zh'),
      target_lang: nearly('de', 'EN-US'),
      entries: nearly('a\tb', 'a,b', 'x\ty\n__proto__\tz'),
      entries_format: nearly('tsv', 'csv', undefined),
      __proto__: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );

  test('is refused or accepted, and if accepted has languages, entries, and each pair once', () => {
    const given = fc.oneof({ weight: 4, arbitrary: fc.array(dictionary, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.jsonValue() });
    fc.assert(
      fc.property(given, (dictionaries) => {
        const judged = judgeDictionaries(members(JSON.parse(JSON.stringify({ dictionaries })) as object), languages);
        if ('problem' in judged) {
          expect(CODES).toContain(judged.problem.code);
          return;
        }
        const pairs = judged.sound.map(({ sourceLang, targetLang }) => `${sourceLang} ${targetLang}`);
        expect(new Set(pairs).size).toBe(pairs.length);
        for (const pair of pairs) expect(pair).toMatch(/^(EN|DE|ZH) (EN|DE|ZH)$/);
        for (const { entries } of judged.sound) expect(Object.keys(entries).length).toBeGreaterThan(0);
      }),
    );
  });

  test('with ten thousand dictionary fields is refused for too many dictionaries, and accepted if they are all of one', () => {
    const fields = Array.from({ length: 10_000 }, (_, i) => [i, `dictionaries[${i}].x`, `dictionaries[0].x${i}`] as const);
    expect(verdict(judgeDictionaries(new Map(fields.map(([, name]) => [name, 'x'])), languages))).toMatch(/at most 100/);
    const one = new Map<string, unknown>(fields.map(([, , name]) => [name, 'x']));
    for (const [name, value] of Object.entries(DICTIONARY)) one.set(`dictionaries[0].${name}`, value);
    expect(verdict(judgeDictionaries(one, languages))).toEqual([{ sourceLang: 'EN', targetLang: 'DE', entries: { a: 'b' } }]);
  });
});
