// Malformed bodies of LibreTranslate's paths: what forms and their parts can be, bounds of JSON, and members of its own. Bytes of JSON are
// read as those of /v1, which evidence/input/json judges.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { LISTENERS, startInputGateway } from './gateways.ts';
import type { Ask, InputGateway } from './gateways.ts';

const FORM = 'application/x-www-form-urlencoded';
const PARTS = 'multipart/form-data; boundary=B';
const GOOD = 'q=a&source=en&target=de';

/** Refused, or the price. */
type Reading = 'refused' | number;

interface Case {
  readonly name: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  readonly reading: Reading;
}

const form = (name: string, body: string | Uint8Array, reading: Reading): Case => ({ name, type: FORM, body, reading });
/** A string is sent unchanged. */
const json = (name: string, body: unknown, reading: Reading): Case => ({
  name,
  type: 'application/json',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  reading,
});

const part = (name: string, value: string): string => `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const LANGUAGE_PARTS = part('source', 'en') + part('target', 'de');
const parts = (name: string, body: string | Uint8Array, reading: Reading): Case => ({ name, type: PARTS, body, reading });
const many = (count: number, one: (index: number) => string, joined = '&'): string =>
  Array.from({ length: count }, (_, i) => one(i)).join(joined);
const numbered = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i]));
/** A form of 1,000 fields has this many besides those that it needs. */
const FIELDS_LEFT = 997;
const members = (more: object): object => ({ q: 'a', source: 'en', target: 'de', ...more });

const CASES: readonly Case[] = [
  form('a form', GOOD, 1),
  form('1,000 fields', `${GOOD}&${many(FIELDS_LEFT, () => 'n=1')}`, 1),
  form('1,000 fields of different names', `${GOOD}&${many(FIELDS_LEFT, (i) => `n${i}=1`)}`, 1),
  form('1,001 fields', `${GOOD}&${many(FIELDS_LEFT + 1, () => 'n=1')}`, 'refused'),
  form('10,000 fields of different names', `${GOOD}&${many(10_000, (i) => `n${i}=1`)}`, 'refused'),
  form('10,000 texts', `source=en&target=de&${many(10_000, () => 'q=a')}`, 'refused'),
  form('50 texts', `source=en&target=de&${many(50, () => 'q=a')}`, 50),
  form('51 texts', `source=en&target=de&${many(51, () => 'q=a')}`, 51),
  form('as many texts as a form may have', `source=en&target=de&${many(998, () => 'q=a')}`, 998),
  form('a thousand fields, most of them keys', `${GOOD}&${many(FIELDS_LEFT, () => 'api_key=x')}`, 1),
  form('10,000 keys', `${GOOD}&${many(10_000, () => 'api_key=x')}`, 'refused'),
  form('a repeated source', `${GOOD}&source=fr`, 'refused'),
  form('a repeated target', `${GOOD}&target=fr`, 'refused'),
  form('a repeated format', `${GOOD}&format=text&format=html`, 'refused'),
  form('a repeated number', `${GOOD}&alternatives=1&alternatives=2`, 'refused'),
  form('names of prototypes', `${GOOD}&__proto__=1&constructor=1&toString=1&__proto__.q=x`, 1),
  form('names with brackets', `${GOOD}&q[]=b&q[0]=c&[=1`, 1),
  form('ampersands and nothing else', '&'.repeat(10_000), 'refused'),
  form('an empty body', '', 'refused'),
  form('a character of four bytes', 'q=%F0%9F%98%80&source=en&target=de', 1),
  form('a line break of two characters', 'q=a%0D%0Ab&source=en&target=de', 3),
  form('an escape that is none', 'q=%zz&source=en&target=de', 'refused'),
  form('an overlong escape', 'q=%C0%AF&source=en&target=de', 'refused'),
  form('an escaped surrogate', 'q=%ED%A0%80&source=en&target=de', 'refused'),
  form('Latin-1, escaped', 'q=gr%F6%DFe&source=en&target=de', 'refused'),
  form('UTF-8 as it is', 'q=größe&source=en&target=de', 'refused'),
  form('JSON in a form', '{"q":"a","source":"en","target":"de"}', 'refused'),
  form('a number that is too large', `${GOOD}&alternatives=${'9'.repeat(10_000)}`, 'refused'),
  form('a text that is too long', `q=${'a'.repeat(100_001)}&source=en&target=de`, 'refused'),
  form('a long name', `${GOOD}&${'n'.repeat(500_000)}=1`, 1),
  form('a body over the limit', `q=${'a'.repeat(1024 * 1024)}&source=en&target=de`, 'refused'),
  form('a code of 100,000 letters', `q=a&source=${'e'.repeat(100_000)}&target=de`, 'refused'),
  parts('parts', `${part('q', 'ü😀')}${LANGUAGE_PARTS}--B--`, 2),
  parts('a text that looks like a boundary', `${part('q', '\r\n--C--\r\n-B\r\n')}${LANGUAGE_PARTS}--B--`, 10),
  parts('1,000 parts of different names', `${part('q', 'a')}${LANGUAGE_PARTS}${many(997, (i) => part(`n${i}`, '1'), '')}--B--`, 1),
  parts('1,001 parts', `${part('q', 'a')}${LANGUAGE_PARTS}${many(998, () => part('n', '1'), '')}--B--`, 'refused'),
  parts('10,000 texts in parts', `${many(10_000, () => part('q', 'a'), '')}${LANGUAGE_PARTS}--B--`, 'refused'),
  parts('parts without an end', `${part('q', 'a')}${LANGUAGE_PARTS}`, 'refused'),
  parts('a part cut in its head', '--B\r\nContent-Disposition: form-da', 'refused'),
  parts('boundaries and nothing else', '--B\r\n'.repeat(20_000), 'refused'),
  parts('line breaks and nothing else', '\r\n'.repeat(100_000), 'refused'),
  parts('what comes behind the end', `${part('q', 'a')}${LANGUAGE_PARTS}--B--\r\n${part('q', 'b')}`, 'refused'),
  parts('a file', `${part('q', 'a').replace('name="q"', 'name="q"; filename="a"')}${LANGUAGE_PARTS}--B--`, 'refused'),
  parts('Latin-1 in a part', Buffer.from(`${part('q', 'größe')}${LANGUAGE_PARTS}--B--`, 'latin1'), 'refused'),
  parts(
    'a part in UTF-16',
    `--B\r\nContent-Disposition: form-data; name="q"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\na\r\n--B--`,
    'refused',
  ),
  parts(
    'a part in base64',
    `--B\r\nContent-Disposition: form-data; name="q"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--B--`,
    'refused',
  ),
  { name: 'parts without a boundary', type: 'multipart/form-data', body: `${part('q', 'a')}--B--`, reading: 'refused' },
  { name: 'parts of another kind', type: 'multipart/mixed; boundary=B', body: `${part('q', 'a')}--B--`, reading: 'refused' },
  json('JSON', members({}), 1),
  json('10,000 members', members(numbered(9_997)), 1),
  json('10,001 members', members(numbered(9_998)), 'refused'),
  json('a member twice: the last one counts', '{"q":"a","q":"bb","source":"en","target":"de"}', 2),
  json('64 levels, ignored', `{"q":"a","source":"en","target":"de","more":${'['.repeat(63)}${']'.repeat(63)}}`, 1),
  json('65 levels', `{"q":"a","source":"en","target":"de","more":${'['.repeat(64)}${']'.repeat(64)}}`, 'refused'),
  json('levels for a text', `{"q":${'['.repeat(5000)}${']'.repeat(5000)},"source":"en","target":"de"}`, 'refused'),
  json('levels for a code', `{"q":"a","source":${'['.repeat(5000)}${']'.repeat(5000)},"target":"de"}`, 'refused'),
  json('half a pair', '{"q":["a","\\ud83d"],"source":"en","target":"de"}', 'refused'),
  json('an object for a text', members({ q: { 0: 'a', length: 1 } }), 'refused'),
  json('a switch for a text', members({ q: true }), 'refused'),
  json('a fraction for a number', members({ alternatives: 1.5e300 }), 1),
  json('null', 'null', 'refused'),
  json('an array', ['a'], 'refused'),
  json('a form in JSON', GOOD, 'refused'),
  json("DeepLX's shape", { text: 'ab', target_lang: 'DE' }, 2),
  json("DeepLX's shape with levels", `{"text":"a","target_lang":"DE","source_lang":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'refused'),
  json('both shapes: q is what counts', members({ text: 'abc', target_lang: 'FR' }), 1),
  { name: 'no type', type: '', body: GOOD, reading: 'refused' },
  { name: 'a type of another kind', type: 'text/plain', body: GOOD, reading: 'refused' },
  { name: 'a form that says it is packed', type: FORM, body: GOOD, headers: { 'content-encoding': 'gzip' }, reading: 'refused' },
  { name: 'parts that say they are packed', type: PARTS, body: '--B--', headers: { 'content-encoding': 'br' }, reading: 'refused' },
];

/** Checks an answer for one member, or none of the request's words; never a 5xx. */
function wordsOf(response: HttpResponse): string {
  const body = response.json() as Readonly<Record<string, unknown>>;
  const names = Object.keys(body);
  expect([response.status, names]).toEqual(response.status === 200 ? [200, expect.any(Array)] : [400, ['error']]);
  expect(response.header('content-type')).toBe('application/json');
  return response.status === 200 ? '' : String(body['error']);
}

describe.each(LISTENERS)('the %s listener', (listener) => {
  let input: InputGateway;

  beforeAll(async () => {
    input = await startInputGateway(listener, { plugins: [{ module: 'lingate/plugins/libretranslate' }] });
  });

  afterAll(() => input.stop());

  const post = (one: Ask): Promise<HttpResponse> => input.ask({ path: '/translate', ...one });

  test.each(CASES)('$name', async ({ type, body, headers, reading }) => {
    const before = await input.charged();
    const answer = await post({ headers: { 'content-type': type, ...headers }, body });
    expect([answer.status, wordsOf(answer)]).toEqual([reading === 'refused' ? 400 : 200, expect.any(String)]);
    expect((await input.charged()) - before).toBe(reading === 'refused' ? 0 : reading);
  });
});
