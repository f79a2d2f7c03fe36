// A key in a query is found only as a parameter of its own.
import { expect, test } from 'vitest';
import { keyInQuery } from '../../../../src/plugins/facades/keys.ts';

test.each([
  ['key=abc', 'abc'],
  ['q=a&key=abc&target=de', 'abc'],
  ['q=a&key=abc', 'abc'],
  ['monkey=abc', undefined],
  ['q=key=abc', undefined],
  ['q=a%26key=abc', undefined],
  ['%6Bey=abc', undefined],
  ['KEY=abc', undefined],
  ['key', undefined],
  ['key=', undefined],
  ['key=&q=a', undefined],
  ['', undefined],
  // Two keys are ambiguous, so neither is taken.
  ['key=abc&key=def', 'abc&def'],
  ['key=abc&key=abc', 'abc&abc'],
  ['key=&key=abc', 'abc'],
  ['key=a%62c', 'a%62c'],
])('%s: %s', (query, key) => {
  expect(keyInQuery(query, 'key')).toBe(key);
});

test('a query of 16 KiB that is full of near matches takes linear time', () => {
  for (const piece of ['key=&', 'key=a&', 'key=', '&', 'akey=']) {
    const query = piece.repeat(16_384 / piece.length);
    const before = process.cpuUsage();
    for (let i = 0; i < 20; i++) keyInQuery(query, 'key');
    expect([piece, process.cpuUsage(before).user < 1_000_000]).toEqual([piece, true]);
  }
});
