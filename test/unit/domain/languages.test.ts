// Which pairs are offered, what the lists contain then, and that codes are still looked up among all.
import { describe, expect, test } from 'vitest';
import { Languages } from '../../../src/domain/languages.ts';
import type { LanguageTable } from '../../../src/domain/languages.ts';
import { pairNotOffered } from '../../../src/domain/refusals.ts';

const TABLE: LanguageTable = {
  sources: ['DE', 'EN', 'ES'].map((code) => ({ code, name: code })),
  targets: ['DE', 'EN-GB', 'EN-US', 'ES'].map((code) => ({ code, name: code, formality: false })),
};
const codes = (list: readonly { readonly code: string }[]): string[] => list.map(({ code }) => code);

test('by default every pair is offered, and the lists are the table’s own', () => {
  const languages = new Languages(TABLE);
  expect([languages.sources, languages.targets]).toEqual([TABLE.sources, TABLE.targets]);
  expect(languages.offers('DE', 'DE')).toBe(true);
  expect(languages.offers(undefined, 'ES')).toBe(true);
  expect(codes(languages.targetsFrom('DE'))).toEqual(['DE', 'EN-GB', 'EN-US', 'ES']);
});

describe('with some pairs only', () => {
  const languages = new Languages(TABLE, (source, target) => `${source}-${target}` === 'ES-EN-GB' || (source === 'EN' && target === 'ES'));

  test('each pair is offered or not, and without a source any target that some source has', () => {
    expect(languages.offers('ES', 'EN-GB')).toBe(true);
    expect(languages.offers('ES', 'EN-US')).toBe(false);
    expect(languages.offers('EN', 'EN-GB')).toBe(false);
    expect(languages.offers('DE', 'ES')).toBe(false);
    expect([languages.offers(undefined, 'ES'), languages.offers(undefined, 'EN-GB'), languages.offers(undefined, 'DE')]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test('the lists have only what is offered, and codes are looked up among all', () => {
    expect([codes(languages.sources), codes(languages.targets)]).toEqual([
      ['EN', 'ES'],
      ['EN-GB', 'ES'],
    ]);
    expect(languages.all).toBe(TABLE);
    expect([languages.source('de'), languages.target('de'), languages.base('de-AT'), languages.nameOf('DE')]).toEqual([
      'DE',
      'DE',
      'DE',
      'DE',
    ]);
  });

  test('a refusal names target_lang and the targets that are offered', () => {
    expect(pairNotOffered('ES', 'DE', languages).problem).toMatchObject({
      code: 'validation_error',
      detail: 'target_lang: DE is not offered for texts in ES; offered: EN-GB.',
    });
    expect(pairNotOffered(undefined, 'DE', languages).problem.detail).toBe('target_lang: DE is not offered; offered: EN-GB, ES.');
    expect(pairNotOffered('DE', 'ES', languages).problem.detail).toBe('target_lang: ES is not offered for texts in DE; no target is.');
  });
});
