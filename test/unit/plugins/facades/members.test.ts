// Parameters are read from forms and JSON alike, and only those that were sent.
import { expect, test } from 'vitest';
import { readMembers, readQueryMembers } from '../../../../src/plugins/facades/members.ts';

const read = (type: string, body: string): unknown => {
  const found = readMembers({ 'content-type': type }, Buffer.from(body), 1000);
  return 'sound' in found ? [...found.sound] : found.problem.detail;
};
const FORM = 'application/x-www-form-urlencoded';

test.each([
  [
    'a form',
    FORM,
    'text=a+b&text=%2B&text=&x=1&x&y',
    [
      ['text', ['a b', '+', '']],
      ['x', ['1', '']],
      ['y', ''],
    ],
  ],
  ['a form with its charset', `${FORM}; charset=utf-8`, 'x=1', [['x', '1']]],
  [
    'JSON',
    'Application/JSON;charset=utf-8',
    '{"text":["a"],"n":null,"__proto__":1}',
    [
      ['text', ['a']],
      ['n', null],
      ['__proto__', 1],
    ],
  ],
  ['no body, whatever its type', 'text/plain', '', []],
])('%s', (_name, type, body, members) => {
  expect(read(type, body)).toEqual(members);
});

test.each([
  ['text/plain', 'x=1', /application\/json or application\/x-www-form-urlencoded/],
  ['application/json', '[]', /object/],
  ['application/json', 'null', /object/],
  ['application/json', '{', /well-formed/],
  [FORM, 'x=%f', /escape/],
])('%s %s is refused', (type, body, words) => {
  expect(read(type, body)).toMatch(words);
});

test('parameters of a query are read like those of a form', () => {
  const found = readQueryMembers('q=a+b&q=%C3%BC&target=de');
  expect('sound' in found && [...found.sound]).toEqual([
    ['q', ['a b', 'ü']],
    ['target', 'de'],
  ]);
  expect(readQueryMembers('')).toEqual({ sound: new Map() });
  expect(readQueryMembers('q=%ff')).toMatchObject({ problem: { code: 'validation_error' } });
});
