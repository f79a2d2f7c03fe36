// Codes of other APIs and ours: names of the same language, regions, and Chinese, whose scripts must not be mixed up.
import { describe, expect, test } from 'vitest';
import { Languages } from '../../../../src/domain/languages.ts';
import { CODES as GOOGLE } from '../../../../src/plugins/google/google-api.ts';

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

/** Codes of theirs with ours. */
const pairs = (text: string): string[][] =>
  text
    .trim()
    .split(/\s+/)
    .map((pair) => pair.split('='));

describe('a target', () => {
  test.each(
    pairs(`de=DE zh-CN=ZH zh=ZH zh-Hans=ZH ZH-cn=ZH iw=HE he=HE no=NB nb=NB tl=FIL fil=FIL jw=JV pt=PT-PT pt-BR=PT-BR EN=EN-GB
      en-us=EN-US de-DE=DE de-419=DE en-AU=EN-GB pt-AO=PT-PT no-NO=NB iw-IL=HE zh-CHS=ZH zh-SG=ZH zh-Hans-CN=ZH`),
  )('%s is %s', (code, ours) => {
    expect(GOOGLE.target(code, languages, VARIANTS)?.code).toBe(ours);
  });

  test.each([
    ...'zh-TW zh-Hant zh-HK zh-MO zh-CHT zh-Hant-CN zh-XX zh-Latn de-Latn de-X de-DE-x zz-DE zz auto'.split(' '),
    'n\u00f8',
    'zh-h\u212a',
    '',
    'x'.repeat(100_000),
    { de: 1 },
    ['de'],
    1,
    null,
  ])('%.20j is not accepted', (code) => {
    expect(GOOGLE.target(code, languages, VARIANTS)?.code).toBeUndefined();
  });

  test('is found by a name that the answer can repeat', () => {
    const name = (code: string): string | undefined => GOOGLE.target(code, languages, VARIANTS)?.name;
    expect(['zh-cn', 'no', 'de-AT', 'en', 'pt-br'].map(name)).toEqual(['ZH-HANS', 'NB', 'DE', 'EN', 'PT-BR']);
  });

  test.each(['ZH-TW', 'ZH-HANT'])('traditional Chinese is %s if the list has that', (listed) => {
    for (const code of ['zh-TW', 'zh-Hant', 'zh-HK', 'zh-CHT', 'zh-MO', 'zh-Hant-HK'])
      expect(GOOGLE.target(code, languagesWith(listed), VARIANTS)?.code).toBe(listed);
    expect(GOOGLE.target('zh-CN', languagesWith(listed), VARIANTS)?.code).toBe('ZH');
  });
});

test.each(pairs('pt-BR=PT zh-TW=ZH zh-CN=ZH no=NB iw=HE tl=FIL zh-Hant-HK=ZH no-NO=NB de-CH=DE'))(
  'a variant as a source stands for its base code: %s for %s',
  (code, ours) => {
    expect(GOOGLE.source(code, languages)).toBe(ours);
  },
);

test('an unknown source, or none, is none', () => {
  for (const code of ['xx', undefined]) expect(GOOGLE.source(code, languages)).toBeUndefined();
});

test('the code of a language in an answer means the same language in a request', () => {
  const all = languagesWith('ZH-TW', 'ZH-HANT');
  const answered = ['ZH', 'NB', 'HE', 'PT-BR', 'DE', 'FIL', 'ZH-HANT'].map((code) => GOOGLE.theirs(code));
  expect(answered).toEqual(['zh-CN', 'no', 'he', 'pt-BR', 'de', 'fil', 'zh-TW']);
  for (const code of TARGETS) expect(GOOGLE.target(GOOGLE.theirs(code), all, VARIANTS)?.code).toBe(code);
  for (const code of SOURCES) expect(GOOGLE.source(GOOGLE.theirs(code), all)).toBe(code);
});
