// Language codes of other APIs mapped to our targets.
import { Languages } from 'lingate';
import { Default } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../../../src/config/faults.ts';
import { DefaultVariants, targetOf } from '../../../../src/plugins/facades/default-variants.ts';

const list = (...codes: readonly string[]): Languages =>
  new Languages({ sources: [], targets: codes.map((code) => ({ code, name: code, formality: false })) });
const VARIANTS = { EN: 'EN-GB', PT: 'PT-PT', ES: 'ES-419' };

describe('a target', () => {
  test.each([
    ['DE', 'DE'],
    ['en', 'EN-GB'],
    ['EN-US', 'EN-US'],
    ['pt', 'PT-PT'],
    ['es', 'ES-419'],
    ['zh-Hans', 'ZH'],
    ['ZH-HANT', undefined],
    ['xx', undefined],
    ['constructor', undefined],
    ['', undefined],
    [null, undefined],
    [['EN'], undefined],
    // A dotless i and a Kelvin sign are not letters of codes.
    ['\u0131t', undefined],
    ['\u212ao', undefined],
  ])('%j is %s', (code, target) => {
    const languages = list('DE', 'EN-GB', 'EN-US', 'PT-PT', 'ES-419', 'ZH', 'IT', 'KO');
    expect(targetOf(code, languages, VARIANTS)).toBe(target);
  });

  test('codes of the list itself are unchanged', () => {
    const languages = list('EN', 'EN-GB', 'ZH', 'ZH-HANS', 'ZH-HANT');
    expect(['EN', 'ZH-HANS', 'zh-hant'].map((code) => targetOf(code, languages, VARIANTS))).toEqual(['EN', 'ZH-HANS', 'ZH-HANT']);
  });

  test('a variant that is not in the list is not a target', () => {
    expect(targetOf('EN', list('EN-US'), VARIANTS)).toBeUndefined();
  });
});

describe('the option', () => {
  test('has defaults for what is not given', () => {
    expect(Default(DefaultVariants, { EN: 'EN-US', ES: 'ES-419' })).toEqual({ EN: 'EN-US', PT: 'PT-PT', ES: 'ES-419' });
    expect(Default(DefaultVariants, undefined)).toEqual({ EN: 'EN-GB', PT: 'PT-PT' });
  });

  test.each([{ EN: 'en-us' }, { EN: 7 }, { ES: '' }, []])('%j is refused', (given) => {
    expect(faultsOf(DefaultVariants, given)).not.toEqual([]);
  });
});
