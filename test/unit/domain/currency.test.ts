// Currencies by ISO 4217: which codes are known, how many decimals each has, and amounts without a rounding error.
import { expect, test } from 'vitest';
import { amountText, decimalsOf, isCurrency } from '../../../src/domain/money.ts';

test('codes of currencies, funds and new currencies are known, others are not', () => {
  for (const code of ['EUR', 'JPY', 'KWD', 'CLF', 'XCG', 'ZWG', 'UYW']) expect(isCurrency(code), code).toBe(true);
  for (const code of ['EURO', 'eur', 'ABC', 'XYZ', '', 'E R', 'BTC']) expect(isCurrency(code), code).toBe(false);
});

test.each([
  ['EUR', 2],
  ['JPY', 0],
  ['KWD', 3],
  ['CLF', 4],
  // Usually displayed without decimals; the standard has some.
  ['HUF', 2],
  ['IQD', 3],
  ['MGA', 2],
])('%s has %i decimals', (code, decimals) => expect(decimalsOf(code)).toBe(decimals));

test('where the platform differs, it has fewer decimals: those that are displayed', () => {
  for (const code of Intl.supportedValuesOf('currency')) {
    const shown = new Intl.NumberFormat('en', { style: 'currency', currency: code }).resolvedOptions().maximumFractionDigits!;
    expect(shown, code).toBeLessThanOrEqual(decimalsOf(code));
  }
});

test.each([
  [123_456, 'EUR', '1234.56'],
  [5, 'EUR', '0.05'],
  [0, 'EUR', '0.00'],
  [-5, 'EUR', '-0.05'],
  [1500, 'JPY', '1500'],
  [0, 'JPY', '0'],
  [1005, 'KWD', '1.005'],
  [9_007_199_254_740_991, 'EUR', '90071992547409.91'],
])('%i minor units of %s are %s', (minor, code, text) => expect(amountText(minor, code)).toBe(text));
