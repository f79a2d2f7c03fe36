// Parameters are read from forms and JSON alike, and only those that were sent.
import { describe, expect, test } from 'vitest';
import { readMembers, withQuery } from '../../../../src/plugins/facades/members.ts';

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

describe('parameters of a query', () => {
  const body = new Map<string, unknown>([
    ['q', 'x'],
    ['format', 'text'],
  ]);

  test('are read like those of a form, and join those of the body', () => {
    const found = withQuery(new Map(), 'q=a+b&q=%C3%BC&target=de', ['q']);
    expect('sound' in found && [...found.sound]).toEqual([
      ['q', ['a b', 'ü']],
      ['target', 'de'],
    ]);
    expect(withQuery(body, '', ['q'])).toEqual({ sound: body });
    expect(withQuery(body, 'target=de', ['q', 'target'])).toEqual({ sound: new Map<string, unknown>([['target', 'de'], ...body]) });
  });

  test('are refused if they are in the body too, and if they cannot be read', () => {
    expect(withQuery(body, 'q=y', ['format', 'q'])).toMatchObject({
      problem: { detail: 'q: must not be both in the query and in the body.' },
    });
    expect(withQuery(body, 'q=%ff', ['q'])).toMatchObject({ problem: { code: 'validation_error' } });
  });
});
