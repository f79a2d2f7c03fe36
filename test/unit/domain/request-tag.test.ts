// What is a tag, and in which form it is counted.
import { expect, test } from 'vitest';
import { readTag } from '../../../src/domain/request-tag.ts';

test.each<[string, string | undefined | null]>([
  ['acme', 'acme'],
  ['  Acme-EU\t', 'acme-eu'],
  ['!"#~', '!"#~'],
  ['x'.repeat(100), 'x'.repeat(100)],
  ['', undefined],
  [' \t ', undefined],
  ['x'.repeat(101), null],
  ['a b', null],
  ['a\u007fb', null],
  ['a\u00e4', null],
  ['a\nb', null],
  ['first, second', null],
  ['\u00a0acme', null],
  ['acme\u0085', null],
  ['\u00a0', null],
])('%j is read as %j', (text, tag) => {
  expect(readTag(text)).toBe(tag);
});
