// Malformed bodies and queries of Azure's POST /translate: what the JSON of /v1 has passed, and what queries can be.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { BYTE_CASES } from './bytes-of-text.ts';
import { AT_ONCE } from './facade-bodies.ts';
import { LISTENERS, forEachOf, startInputGateway } from './gateways.ts';
import type { InputGateway } from './gateways.ts';

const PATH = '/translate?api-version=3.0';
const GOOD = '[{"Text":"a"}]';
const BEFORE = '{"text":["';
const AFTER = '"],"target_lang":"DE"}';

/** The bytes of a text of /v1 as a text here. */
const BYTES = BYTE_CASES.flatMap(({ name, body, reading }) => {
  const text = Buffer.from(body).toString('latin1');
  if (!text.startsWith(BEFORE) || !text.endsWith(AFTER)) return [];
  return [{ name, reading, body: Buffer.from(`[{"Text":"${text.slice(BEFORE.length, -AFTER.length)}"}]`, 'latin1') }];
});

/** The result of a query: the number of its refusal, or the price of one character. */
const QUERIES: readonly (readonly [name: string, query: string, number: number])[] = [
  ['fifty targets', '&to=de'.repeat(50), 50],
  ['fifty-one', '&to=de'.repeat(51), 400_036],
  ['two thousand', '&to=de'.repeat(2000), 400_036],
  ['ampersands and nothing else', '&'.repeat(10_000), 400_036],
  ['equals signs', '&to==de', 400_036],
  ['names of prototypes', '&to=de&__proto__=1&constructor=1&toString=1', 1],
  ['names with brackets', '&to[]=de&to=fr', 1],
  ['an escape that is none', '&to=%zz', 400_036],
  ['an overlong escape', '&to=%C0%AF', 400_036],
  ['an escaped name', '&%74o=d%65', 1],
  ['a blank', '&to=+de', 400_036],
  ['NUL', '&to=de%00', 400_036],
  ['a dotless i', '&to=%C4%B1t', 400_036],
  ['a code of 10,000 letters', `&to=de&from=${'e'.repeat(10_000)}`, 400_035],
  ['a second version', '&to=de&api-version=', 400_021],
];

/** Checks an answer in Azure's form without any of the request's words; never a 5xx. Returns the failure's number, or 200, and its message. */
function told(response: HttpResponse): readonly [number, string] {
  const body = response.json() as { readonly error?: { readonly code: number; readonly message: string } };
  expect(response.header('content-type')).toBe('application/json');
  if (response.status === 200) return [200, ''];
  expect(Object.keys(body)).toEqual(['error']);
  const { code, message } = body.error!;
  expect([response.status, Object.keys(body.error!)]).toEqual([Math.floor(code / 1000), ['code', 'message']]);
  expect(response.status).toBeLessThan(500);
  return [code, message];
}

describe.each(LISTENERS)('the %s listener', (listener) => {
  let input: InputGateway;

  beforeAll(async () => {
    input = await startInputGateway(listener, { plugins: [{ module: 'lingate/plugins/azure-v3' }] });
  });

  afterAll(() => input.stop());

  const post = (body: string | Uint8Array, query = '&to=de', path = PATH): Promise<HttpResponse> => input.ask({ path: path + query, body });

  test('bytes are UTF-8 or refused; charged are code points, once for each target', async () => {
    expect(BYTES.length).toBeGreaterThan(10);
    const before = await input.charged();
    const answers = await forEachOf(BYTES, AT_ONCE, ({ body }) => post(body, '&to=de&to=fr'));
    expect(answers.map((answer, i) => [BYTES[i]!.name, told(answer)[0] === 200])).toEqual(
      BYTES.map(({ name, reading }) => [name, typeof reading === 'number']),
    );
    const sum = BYTES.reduce((total, { reading }) => total + (typeof reading === 'number' ? reading : 0), 0);
    expect((await input.charged()) - before).toBe(2 * sum);
  });

  test.each(QUERIES)('%s', async (_name, query, number) => {
    const before = await input.charged();
    const [code] = told(await post(GOOD, query));
    expect(code).toBe(number < 1000 ? 200 : number);
    expect((await input.charged()) - before).toBe(number < 1000 ? number : 0);
  });
});
