// The shipped language list, and how codes are looked up.
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { CODES as AZURE } from '../../../src/plugins/azure-v3/azure-api.ts';
import { CODES as GOOGLE } from '../../../src/plugins/google/google-api.ts';
import { CODES as LIBRETRANSLATE } from '../../../src/plugins/libretranslate/libretranslate-api.ts';
import { loaded } from '../../support/written-file.ts';

const SOURCES = 'AR BG CS DA DE EL EN ES ET FI FR GA HE HR HU ID IT JA KO LT LV MT NB NL PL PT RO RU SK SL SV TH TR UK VI ZH'.split(' ');
const VARIANTS = ['EN-GB', 'EN-US', 'PT-BR', 'PT-PT'];
const TARGETS = [...SOURCES.filter((code) => code !== 'EN' && code !== 'PT'), ...VARIANTS];
const FORMAL = 'DE ES FR IT JA NL PL PT-BR PT-PT RU'.split(' ');

const LONGER = fileURLToPath(new URL('../../../config/languages-all.yaml', import.meta.url));
const languages = new Languages(loadConfig({ env: {} }).languages);

describe('the shipped list', () => {
  test('has an English name for every code', () => {
    expect([...SOURCES, ...TARGETS].filter((code) => languages.nameOf(code) === undefined)).toEqual([]);
    expect(languages.nameOf('NB')).toBe('Norwegian Bokmål');
  });
});

describe('the longer list', () => {
  const longer = (): Languages => new Languages(loaded(`languages: ${LONGER}`).languages);

  test('has every language of the shorter one under its code, and those that DeepL, Google and Azure have besides', () => {
    const all = longer();
    for (const code of SOURCES) expect([code, all.source(code)]).toEqual([code, code]);
    for (const code of TARGETS) expect([code, all.target(code)]).toEqual([code, code]);
    const more = 'AF AM BN CA CY FA FIL HI IS KA KMR MS SQ SR SR-LATN SW TA TL UR YUE ZH-HANT ZU ES-419 FR-CA'.split(' ');
    expect(more.filter((code) => all.target(code) === undefined)).toEqual(['FIL']);
    // A text may only be in a base code.
    expect(all.sources.filter(({ code }) => code.includes('-'))).toEqual([]);
    for (const { code } of all.targets) expect([code, all.base(code)]).toEqual([code, code.split('-')[0]]);
  });

  test('has the same formality, and one name for each code and one code for each name', () => {
    const all = longer();
    const formal = all.targets.filter(({ formality }) => formality).map(({ code }) => code);
    expect(formal.toSorted()).toEqual([...FORMAL, 'ES-419'].toSorted());
    for (const list of [all.sources, all.targets]) {
      const codes = list.map(({ code }) => code);
      expect(codes).toEqual(codes.toSorted());
      expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
    }
    expect(
      all.sources.filter(
        ({ code }) => all.target(code) !== undefined && all.targets.find((one) => one.code === code)!.name !== all.nameOf(code),
      ),
    ).toEqual([]);
    expect(['SW', 'AF', 'CA', 'HI', 'ZH', 'ZH-HANT'].map((code) => all.nameOf(code))).toEqual([
      'Swahili',
      'Afrikaans',
      'Catalan',
      'Hindi',
      'Chinese (simplified)',
      'Chinese (traditional)',
    ]);
  });

  test('is understood in every vendor’s codes, and told in them', () => {
    const all = longer();
    const variants = { EN: 'EN-GB', PT: 'PT-PT' };
    for (const codes of [AZURE, GOOGLE, LIBRETRANSLATE]) {
      for (const { code } of all.targets) expect([code, codes.target(codes.theirs(code), all, variants)?.code]).toEqual([code, code]);
      for (const { code } of all.sources) expect([code, codes.source(codes.theirs(code), all)]).toEqual([code, code]);
    }
    // Kurdish is another one at Azure.
    expect([GOOGLE, AZURE].map((codes) => codes.target('ku', all, variants)?.code)).toEqual(['KMR', 'CKB']);
    for (const code of ['zh-TW', 'zh-Hant', 'zh-cht', 'zh-HK']) expect(GOOGLE.target(code, all, variants)?.code).toBe('ZH-HANT');
  });
});

describe('looking up a code', () => {
  test('case does not matter, and the canonical form is returned', () => {
    expect(languages.source('de')).toBe('DE');
    expect(languages.target('pt-Br')).toBe('PT-BR');
  });

  test('a variant has its base', () => {
    expect(['en-gb', 'EN', 'zh-hans', 'xx', 'xx-de', '-EN', ''].map((code) => languages.base(code))).toEqual([
      'EN',
      'EN',
      'ZH',
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    [undefined],
    [null],
    [5],
    [['DE']],
    [{}],
    [''],
    ['DE '],
    [' DE'],
    ['D'],
    ['fı'],
    ['ſv'],
    ['__proto__'],
    ['x'.repeat(1_000_000)],
  ])('case %#: an invalid code is not found', (value) => {
    expect([languages.source(value), languages.target(value), languages.base(value)]).toEqual([undefined, undefined, undefined]);
  });
});
