// Malformed bodies of POST /v2/translate: what the JSON of /v1 has passed, and what forms can be.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { detailOf, expectClean } from './answers.ts';
import { expectBytesRead, form, FORM, json } from './facade-bodies.ts';
import type { Case } from './facade-bodies.ts';
import { LISTENERS, startInputGateway } from './gateways.ts';
import type { Ask, InputGateway } from './gateways.ts';

const PARTS = 'multipart/form-data; boundary=x';
const GOOD = 'text=a&target_lang=DE';

/** The status of a refusal, or the price. */
type Reading = 400 | 413 | { readonly charged: number };

const repeated = (pair: string, times: number): string => Array.from({ length: times }, () => pair).join('&');

const numbered = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i]));

const CASES: readonly Case<Reading>[] = [
  form('a form', GOOD, { charged: 1 }),
  form('a thousand fields', `${GOOD}&${repeated('n=1', 998)}`, { charged: 1 }),
  form('a thousand fields of different names', `${GOOD}&${Array.from({ length: 998 }, (_, i) => `n${i}=1`).join('&')}`, { charged: 1 }),
  form('a thousand fields and one', `${GOOD}&${repeated('n=1', 999)}`, 400),
  form('ten thousand fields of different names', `${GOOD}&${Array.from({ length: 10_000 }, (_, i) => `n${i}=1`).join('&')}`, 400),
  form('ten thousand texts', `target_lang=DE&${repeated('text=a', 10_000)}`, 400),
  form('fifty texts', `target_lang=DE&${repeated('text=a', 50)}`, { charged: 50 }),
  form('fifty-one texts', `target_lang=DE&${repeated('text=a', 51)}`, 413),
  form('a repeated target', `${GOOD}&target_lang=FR`, 400),
  form('a repeated source', `${GOOD}&source_lang=EN&source_lang=FR`, 400),
  form('a repeated formality', `${GOOD}&formality=more&formality=less`, 400),
  form('a repeated switch', `${GOOD}&show_billed_characters=1&show_billed_characters=0`, 400),
  form('lists in several fields', `${GOOD}&tag_handling=xml&ignore_tags=a&ignore_tags=b,c`, { charged: 1 }),
  form('names of prototypes', `${GOOD}&__proto__=1&constructor=1&__proto__.text=x&toString=1`, { charged: 1 }),
  form('names with brackets and dots', `${GOOD}&text[]=b&text[0]=c&a.b.c=d&[=1&]=1`, { charged: 1 }),
  form('ampersands and nothing else', '&'.repeat(10_000), 400),
  form('ampersands around', `&&&${GOOD}&&&`, { charged: 1 }),
  form('equals signs', 'text===&target_lang=DE', { charged: 2 }),
  form('a field without a value', 'text&target_lang=DE', { charged: 0 }),
  form('an empty body', '', 400),
  form('blanks as plus signs', 'text=a+b&target_lang=DE', { charged: 3 }),
  form('a plus sign', 'text=a%2Bb&target_lang=DE', { charged: 3 }),
  form('a character of four bytes', 'text=%F0%9F%98%80&target_lang=DE', { charged: 1 }),
  form('an escape that ends early', 'text=%F&target_lang=DE', 400),
  form('an escape that is none', 'text=%zz&target_lang=DE', 400),
  form('an overlong escape', 'text=%C0%AF&target_lang=DE', 400),
  form('an escaped surrogate', 'text=%ED%A0%80&target_lang=DE', 400),
  form('half a character', 'text=%E2%82&target_lang=DE', 400),
  form('Latin-1, escaped', 'text=gr%F6%DFe&target_lang=DE', 400),
  form('Latin-1 as it is', Buffer.from('text=größe&target_lang=DE', 'latin1'), 400),
  form('UTF-8 as it is', 'text=größe&target_lang=DE', 400),
  form('NUL, escaped', 'text=a%00b&target_lang=DE', { charged: 3 }),
  form('JSON in a form', '{"text":["a"],"target_lang":"DE"}', 400),
  form('a text that is too long', `text=${'a'.repeat(100_001)}&target_lang=DE`, 413),
  form('a long name', `${GOOD}&${'n'.repeat(500_000)}=1`, { charged: 1 }),
  form('a body over the limit', `text=${'a'.repeat(1024 * 1024)}&target_lang=DE`, 413),
  json('a body of JSON over the limit', { text: ['a'], target_lang: 'DE', more: 'a'.repeat(1024 * 1024) }, 413),
  json('ten thousand members', { text: ['a'], target_lang: 'DE', ...numbered(9_998) }, { charged: 1 }),
  json('ten thousand members and one', { text: ['a'], target_lang: 'DE', ...numbered(9_999) }, 400),
  json('a member twice: the last one counts', '{"text":["a"],"text":["bb"],"target_lang":"DE"}', { charged: 2 }),
  json('64 levels, ignored', `{"text":["a"],"target_lang":"DE","more":${'['.repeat(63)}${']'.repeat(63)}}`, { charged: 1 }),
  json('65 levels', `{"text":["a"],"target_lang":"DE","more":${'['.repeat(64)}${']'.repeat(64)}}`, 400),
  json('a hundred thousand levels', `{"text":["a"],"target_lang":"DE","more":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 400),
  json('levels in a list of texts', `{"text":[${'['.repeat(5000)}${']'.repeat(5000)}],"target_lang":"DE"}`, 400),
  json('levels for a list of tags', `{"text":["a"],"target_lang":"DE","ignore_tags":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400),
  json('half a pair in a tag', '{"text":["a"],"target_lang":"DE","tag_handling":"xml","ignore_tags":["\\ud83d"]}', 400),
  json('half a pair in a context', '{"text":["a"],"target_lang":"DE","context":"\\ud83d"}', 400),
  json('a form in JSON', GOOD, 400),
  json('an array', ['a'], 400),
  json('null', 'null', 400),
  json('numbers for words', { text: ['a'], target_lang: 7 }, 400),
  { name: 'no type', type: '', body: GOOD, reading: 400 },
  { name: 'a type of another kind', type: 'text/plain', body: GOOD, reading: 400 },
  {
    name: 'a form in parts without an end',
    type: PARTS,
    body: '--x\r\nContent-Disposition: form-data; name="text"\r\n\r\na',
    reading: 400,
  },
  { name: 'a type with its charset', type: `${FORM}; charset=UTF-8`, body: GOOD, reading: { charged: 1 } },
  {
    name: 'UTF-16 as JSON',
    type: 'application/json; charset=utf-16',
    body: Buffer.from(`{"text":["a"],"target_lang":"DE"}`, 'utf16le'),
    reading: 400,
  },
  { name: 'a form that says it is packed', type: FORM, body: GOOD, headers: { 'content-encoding': 'gzip' }, reading: 400 },
  { name: 'JSON that says it is packed', type: 'application/json', body: '{}', headers: { 'content-encoding': 'br' }, reading: 400 },
];

describe.each(LISTENERS)('the %s listener', (listener) => {
  let input: InputGateway;

  beforeAll(async () => {
    input = await startInputGateway(listener, { plugins: [{ module: 'lingate/plugins/deepl-v2' }] });
  });

  afterAll(() => input.stop());

  const post = (one: Ask): Promise<HttpResponse> => input.ask({ path: '/v2/translate', ...one });

  test('bytes are UTF-8 or refused; charged are code points, and the engine gets the same ones', async () => {
    await expectBytesRead(input, post, 'text', expectClean);
  });

  test.each(CASES)('$name', async ({ type, body, headers, reading }) => {
    const before = await input.charged();
    const answer = await post({ headers: { 'content-type': type, ...headers }, body });
    const status = typeof reading === 'number' ? reading : 200;
    expect([answer.status, answer.status === 200 ? '' : detailOf(answer)]).toEqual([status, expect.any(String)]);
    expectClean(answer);
    expect((await input.charged()) - before).toBe(typeof reading === 'number' ? 0 : reading.charged);
  });
});
