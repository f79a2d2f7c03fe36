// Money and characters: exact whole numbers, rounded only for display.
import { describe, expect, test } from 'vitest';
import { countCharacters } from '../../../src/domain/characters.ts';
import { MINOR_MAX, costMicro, minorRoundedDown, minorRoundedUp, overageCharacters, toMicro } from '../../../src/domain/money.ts';

describe('money', () => {
  test('a price per million is exact for every number of characters', () => {
    expect(costMicro(1, 2500)).toBe(2500);
    expect(costMicro(1_000_000, 2500)).toBe(toMicro(2500));
    for (const price of [1, 7, 2500, 333_333]) {
      for (let characters = 0; characters <= 5000; characters++) {
        expect(BigInt(costMicro(characters, price))).toBe(BigInt(characters) * BigInt(price));
      }
    }
  });

  test('a balance is rounded down, a required amount is rounded up', () => {
    expect(minorRoundedDown(1_999_999)).toBe(1);
    expect(minorRoundedUp(1_000_001)).toBe(2);
    expect(minorRoundedUp(1_000_000)).toBe(1);
  });

  test('the largest amount is still an exact integer of millionths', () => {
    expect(Number.isSafeInteger(toMicro(MINOR_MAX))).toBe(true);
    expect(Number.isSafeInteger(toMicro(MINOR_MAX + 1))).toBe(false);
  });

  test('a cap pays only for whole characters, and for none without a cap or a price', () => {
    expect(overageCharacters(1, 3)).toBe(333_333);
    expect(overageCharacters(10_000, 2000)).toBe(5_000_000);
    expect(overageCharacters(0, 2000)).toBe(0);
    expect(overageCharacters(100, 0)).toBe(0);
  });
});

describe('characters', () => {
  test.each([
    ['abc', 3],
    ['é', 1],
    ['👍', 1],
    ['👨‍👩‍👧‍👦é', 8],
    ['a\u0301', 2],
    ['', 0],
  ])('%j has %i code points', (text, count) => {
    expect(countCharacters(text)).toBe(count);
    expect(Array.from(text)).toHaveLength(count);
  });
});
