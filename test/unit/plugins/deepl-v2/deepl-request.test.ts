// Parameters mean the same as strings in a form and as JSON values.
import { expect, test } from 'vitest';
import { flag, namesOf, oneOf, textOf } from '../../../../src/plugins/deepl-v2/deepl-request.ts';
import type { Judged } from '../../../../src/plugins/facades/members.ts';

const seen = (judged: Judged<unknown>): unknown => ('problem' in judged ? 'refused' : judged.sound);

test.each([
  [undefined, undefined],
  [null, undefined],
  ['', undefined],
  ['1', true],
  ['true', true],
  [true, true],
  [1, true],
  ['0', false],
  ['false', false],
  [false, false],
  [0, false],
  ['yes', 'refused'],
  [2, 'refused'],
  [['1'], 'refused'],
  [{}, 'refused'],
])('a switch: %j is %j', (value, expected) => {
  expect(seen(flag(value, 'p'))).toBe(expected);
});

test.each([
  [undefined, undefined],
  ['ONE', 'one'],
  ['1', '1'],
  [true, '1'],
  [1, '1'],
  [false, 'refused'],
  ['two', 'refused'],
  [['one', 'one'], 'refused'],
  ['toString', 'refused'],
])('one of several words: %j is %j', (value, expected) => {
  expect(seen(oneOf(value, 'p', ['one', '1']))).toBe(expected);
});

test.each([
  ['', undefined],
  ['abc', 'abc'],
  // Characters are code points.
  ['😀😀😀', '😀😀😀'],
  ['abcd', 'refused'],
  ['\ud83d', 'refused'],
  [1, 'refused'],
  [['a'], 'refused'],
])('a text of at most three characters: %j is %j', (value, expected) => {
  expect(seen(textOf(value, 'p', 3))).toBe(expected);
});

test.each([
  ['', undefined],
  [[], undefined],
  [',, ,', undefined],
  ['a', ['a']],
  ['a, b,', ['a', 'b']],
  [
    ['a,b', 'c'],
    ['a', 'b', 'c'],
  ],
  [1, 'refused'],
  [['a', 1], 'refused'],
  [['\udc00'], 'refused'],
])('names: %j are %j', (value, expected) => {
  expect(seen(namesOf(value, 'p'))).toEqual(expected);
});
