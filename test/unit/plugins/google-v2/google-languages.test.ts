// Google's language codes and ours: what a code means, which code an answer has, and that the two agree.
import { describe, expect, test } from 'vitest';
import { Languages } from '../../../../src/domain/languages.ts';
import { sourceCode, targetCode, theirCode } from '../../../../src/plugins/google-v2/google-languages.ts';

const VARIANTS = { EN: 'EN-GB', PT: 'PT-PT' };
const SOURCES = ['EN', 'DE', 'HE', 'NB', 'PT', 'ZH', 'FIL', 'JV'];
const TARGETS = ['EN-GB', 'EN-US', 'DE', 'HE', 'NB', 'PT-BR', 'PT-PT', 'ZH', 'FIL', 'JV'];

function languagesWith(...more: readonly string[]): Languages {
  return new Languages({
    sources: SOURCES.map((code) => ({ code, name: code })),
    targets: [...TARGETS, ...more].map((code) => ({ code, name: code, formality: false })),
  });
}

const languages = languagesWith();

describe('a target', () => {
  test.each([
    ['de', 'DE'],
    ['zh-CN', 'ZH'],
    ['zh', 'ZH'],
    ['zh-Hans', 'ZH'],
    ['ZH-cn', 'ZH'],
    ['iw', 'HE'],
    ['he', 'HE'],
    ['no', 'NB'],
    ['nb', 'NB'],
    ['tl', 'FIL'],
    ['fil', 'FIL'],
    ['jw', 'JV'],
    ['pt', 'PT-PT'],
    ['pt-BR', 'PT-BR'],
    ['EN', 'EN-GB'],
    ['en-us', 'EN-US'],
  ])('%s is %s', (code, ours) => {
    expect(targetCode(code, languages, VARIANTS)).toBe(ours);
  });

  test.each(['zh-TW', 'zh-Hant', 'zh-HK', 'zz', 'auto', 'n\u00f8', 'zh-h\u212a', '', 'x'.repeat(100_000), { de: 1 }, ['de'], 1, null])(
    '%.20j is not accepted',
    (code) => {
      expect(targetCode(code, languages, VARIANTS)).toBeUndefined();
    },
  );

  test.each([
    ['ZH-TW', 'ZH-TW'],
    ['ZH-HANT', 'ZH-HANT'],
  ])('traditional Chinese is %s if the list has that', (listed, ours) => {
    for (const code of ['zh-TW', 'zh-Hant', 'zh-HK']) expect(targetCode(code, languagesWith(listed), VARIANTS)).toBe(ours);
    expect(targetCode('zh-CN', languagesWith(listed), VARIANTS)).toBe('ZH');
  });
});

test('a variant as a source stands for its base code', () => {
  for (const [code, ours] of [
    ['pt-BR', 'PT'],
    ['zh-TW', 'ZH'],
    ['zh-CN', 'ZH'],
    ['no', 'NB'],
    ['iw', 'HE'],
    ['tl', 'FIL'],
    ['xx', undefined],
    [undefined, undefined],
  ]) {
    expect([code, sourceCode(code, languages)]).toEqual([code, ours]);
  }
});

test('the code of a language in an answer means the same language in a request', () => {
  const all = languagesWith('ZH-TW', 'ZH-HANT');
  expect(['ZH', 'NB', 'HE', 'PT-BR', 'DE', 'FIL', 'ZH-HANT'].map(theirCode)).toEqual(['zh-CN', 'no', 'he', 'pt-BR', 'de', 'fil', 'zh-TW']);
  for (const code of TARGETS) expect(targetCode(theirCode(code), all, VARIANTS)).toBe(code);
  for (const code of SOURCES) expect(sourceCode(theirCode(code), all)).toBe(code);
});
