// The body of Azure's requests: a list of texts, or the error number for what is wrong.
import { expect, test } from 'vitest';
import { problemExample } from '../../../../src/docs/problem-examples.ts';
import { textsIn } from '../../../../src/plugins/azure-v3/azure-3-0.ts';
import { readBody } from '../../../../src/plugins/azure-v3/azure-request.ts';
import { PROBLEM_FORM } from '../../../../src/plugins/azure-v3/azure-versions.ts';

const BYTES_MAX = 1 << 20;
const TYPE = 'application/json';

function read(body: string, type = TYPE, headers: Readonly<Record<string, string>> = {}): unknown {
  const judged = textsIn(readBody({ 'content-type': type, ...headers }, Buffer.from(body), BYTES_MAX, undefined));
  if ('sound' in judged) return judged.sound;
  const { error } = JSON.parse(PROBLEM_FORM.body(judged.problem, problemExample('validation_error', ''), '')) as {
    error: { code: number };
  };
  return error.code;
}

test('texts may be called Text or text, beside other members; empty ones are not translated', () => {
  expect(read('[{"Text":"grüße 😀"},{"text":""},{"Text":null,"text":"a","x":[1]}]', 'Application/JSON; charset=UTF-8')).toEqual({
    entries: ['grüße 😀', '', 'a'],
    text: ['grüße 😀', 'a'],
    characters: 8,
  });
  expect(read(JSON.stringify(Array.from({ length: 50 }, () => ({ Text: '' }))))).toMatchObject({ text: [], characters: 0 });
});

test.each([
  ['an empty list', '[]', 400_005],
  ['no body', '', 400_005],
  ['an object', '{"Text":"a"}', 400_000],
  ['the shape of later versions', '{"inputs":[{"text":"a","targets":[{"language":"de"}]}]}', 400_000],
  ['null', 'null', 400_000],
  ['texts without an object', '["a"]', 400_020],
  ['null instead of an object', '[null]', 400_020],
  ['a list instead of an object', '[["a"]]', 400_005],
  ['an object without a text', '[{"Text":"a"},{"Txt":"b"}]', 400_005],
  ['a number as a text', '[{"Text":1}]', 400_005],
  ['half a surrogate pair', '[{"Text":"\\ud83d"}]', 400_005],
  ['invalid JSON', '[{"Text":"a"}', 400_074],
  ['65 levels', `[{"Text":"a","x":${'['.repeat(63)}${']'.repeat(63)}}]`, 400_074],
  ['51 texts', `[${'{"Text":"a"},'.repeat(50)}{"Text":"a"}]`, 400_072],
  ['60,000 texts', `[${'{"Text":"a"},'.repeat(59_999)}{"Text":"a"}]`, 400_072],
])('%s', (_name, body, number) => {
  expect(read(body)).toBe(number);
});

test.each([
  ['no type', '', {}],
  ['a form', 'application/x-www-form-urlencoded', {}],
  ['a longer type', 'application/jsonp', {}],
  ['a compressed body', TYPE, { 'content-encoding': 'gzip' }],
])('%s', (_name, type, headers) => {
  expect(read('[{"Text":"a"}]', type, headers as Record<string, string>)).toBe(415_000);
});

test('invalid UTF-8 and a body that is too long are refused', () => {
  const detailOf = (body: Buffer | 'too_large'): unknown => {
    const judged = readBody({ 'content-type': TYPE }, body, BYTES_MAX, undefined);
    return 'problem' in judged && judged.problem.detail;
  };
  expect(detailOf(Buffer.from('[{"Text":"größe"}]', 'latin1'))).toBe('body: must be valid UTF-8.');
  expect(detailOf('too_large')).toBe('The body may be at most 1048576 bytes long.');
});
