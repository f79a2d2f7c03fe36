// Which dictionary is used: the pair's own, or one with the same base codes if that is allowed.
import { expect, test } from 'vitest';
import { baseCode, dictionaryFor } from '../../../src/domain/dictionary-choice.ts';

const HELD = ['DE>EN-GB', 'DE>EN', 'EN>PT-BR', 'EN>PT-PT', 'EN>ZH-HANS'].map((pair) => {
  const [sourceLang = '', targetLang = ''] = pair.split('>');
  return { pair, sourceLang, targetLang };
});

test.each([
  ['DE', 'EN', 'DE>EN', 'DE>EN'],
  ['DE', 'EN-GB', 'DE>EN-GB', 'DE>EN-GB'],
  ['DE', 'EN-US', undefined, 'DE>EN-GB'],
  ['EN', 'PT-PT', 'EN>PT-PT', 'EN>PT-PT'],
  ['EN', 'PT', undefined, 'EN>PT-BR'],
  ['EN-GB', 'ZH', undefined, 'EN>ZH-HANS'],
  ['EN', 'DE', undefined, undefined],
  ['D', 'E', undefined, undefined],
])('%s to %s: exactly %s, by base %s', (sourceLang, targetLang, exact, byBase) => {
  expect(dictionaryFor(HELD, { sourceLang, targetLang })?.pair).toBe(exact);
  expect(dictionaryFor(HELD, { sourceLang, targetLang, byBase: true })?.pair).toBe(byBase);
});

test.each([
  ['EN', 'EN'],
  ['PT-BR', 'PT'],
  ['ZH-HANT', 'ZH'],
])('the base code of %s is %s', (code, base) => {
  expect(baseCode(code)).toBe(base);
});
