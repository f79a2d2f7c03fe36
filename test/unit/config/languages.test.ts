// The shipped language list, and how codes are looked up.
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { Languages } from '../../../src/domain/languages.ts';

const SOURCES = 'AR BG CS DA DE EL EN ES ET FI FR GA HE HR HU ID IT JA KO LT LV MT NB NL PL PT RO RU SK SL SV TH TR UK VI ZH'.split(' ');
const VARIANTS = ['EN-GB', 'EN-US', 'PT-BR', 'PT-PT'];
const TARGETS = [...SOURCES.filter((code) => code !== 'EN' && code !== 'PT'), ...VARIANTS];
const FORMAL = 'DE ES FR IT JA NL PL PT-BR PT-PT RU'.split(' ');

const languages = new Languages(loadConfig({ env: {} }).languages);

describe('the shipped list', () => {
  test('has 36 sources and 38 targets', () => {
    expect(languages.sources.map(({ code }) => code)).toEqual(SOURCES);
    expect(languages.targets.map(({ code }) => code).toSorted()).toEqual(TARGETS.toSorted());
    expect([SOURCES.length, TARGETS.length]).toEqual([36, 38]);
  });

  test('has formality for exactly ten targets', () => {
    expect(TARGETS.filter((code) => languages.supportsFormality(code)).toSorted()).toEqual(FORMAL.toSorted());
  });

  test('has an English name for every code', () => {
    expect([...SOURCES, ...TARGETS].filter((code) => languages.nameOf(code) === undefined)).toEqual([]);
    expect(languages.nameOf('NB')).toBe('Norwegian Bokmål');
  });
});

describe('looking up a code', () => {
  test('case does not matter, and the canonical form is returned', () => {
    expect(languages.source('de')).toBe('DE');
    expect(languages.target('pt-Br')).toBe('PT-BR');
  });

  test('a regional variant is not a source, and a base code with variants is not a target', () => {
    expect(VARIANTS.map((code) => languages.source(code))).toEqual([undefined, undefined, undefined, undefined]);
    expect(languages.target('EN')).toBeUndefined();
    expect(languages.target('PT')).toBeUndefined();
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
