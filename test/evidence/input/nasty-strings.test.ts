// Nasty strings wherever a caller can send one: texts arrive unchanged and are charged by code points; nothing breaks.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { report } from '../scorecard/report.ts';
import { sized } from '../scorecard/size.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { codeOf, expectClean } from './answers.ts';
import { LISTENERS, forEachOf, startInputGateway } from './gateways.ts';
import type { InputGateway } from './gateways.ts';
import { NASTY_STRINGS } from './nasty-strings.ts';

const AT_ONCE = 8;
const TEXTS_MAX = 50;
/** Texts get all of them; other positions get a share in the gate. */
const SHARE = NASTY_STRINGS.filter((_nasty, index) => index % sized(8, 1) === 0);
/** Parameters, members of a glossary, parts of a target and fields: all that are tried below. */
const POSITIONS = 25;

interface Work {
  readonly text: readonly string[];
  readonly context?: string;
  readonly glossary?: { readonly entries: Readonly<Record<string, string>> };
}

/** By the language's own iteration, independently of our counting. */
const codePoints = (text: string): number => Array.from(text).length;

test('there are enough of them', () => {
  expect(NASTY_STRINGS.length).toBeGreaterThanOrEqual(500);
});

describe.each(LISTENERS)('the %s listener', (listener) => {
  let input: InputGateway;
  let tried = 0;

  beforeAll(async () => {
    input = await startInputGateway(listener);
  });

  afterAll(async () => {
    await input.stop();
    report({
      row: 16,
      figure: `${NASTY_STRINGS.length} strings in ${POSITIONS} places, ${listener} listener`,
      measured: `${tried} requests: texts byte-exact to the engine and back, charged by code points; 0 5xx, nothing reflected into a field`,
      met: NASTY_STRINGS.length >= 500,
      counts: { badInputs: tried },
    });
  });

  const translate = (body: Readonly<Record<string, unknown>>): Promise<HttpResponse> => input.ask({ body: JSON.stringify(body) });
  const workOf = (answer: HttpResponse): Work => JSON.parse(input.engineSaw(answer)?.body ?? '{"text":[]}') as Work;

  /** Sends each and checks every answer. */
  async function each(send: (nasty: string) => Promise<HttpResponse>, strings: readonly string[] = SHARE): Promise<HttpResponse[]> {
    const answers = await forEachOf(strings, AT_ONCE, send);
    tried += answers.length;
    for (const answer of answers) expectClean(answer);
    return answers;
  }

  test('as a text: byte-exact to the engine and back, charged by code points', async () => {
    const before = await input.charged();
    const answers = await each((nasty) => translate({ text: [nasty], target_lang: 'DE' }), NASTY_STRINGS);
    expect(answers.map((answer) => workOf(answer).text)).toEqual(NASTY_STRINGS.map((nasty) => [nasty]));
    expect(answers.map((answer) => answer.json())).toEqual(
      NASTY_STRINGS.map((nasty) => ({
        translations: [{ detected_source_language: 'EN', text: `[DE] ${nasty}` }],
        billed_characters: codePoints(nasty),
      })),
    );
    expect((await input.charged()) - before).toBe(codePoints(NASTY_STRINGS.join('')));
  });

  test('as texts of one request: in order, each separately', async () => {
    for (let start = 0; start < NASTY_STRINGS.length; start += TEXTS_MAX) {
      const text = NASTY_STRINGS.slice(start, start + TEXTS_MAX);
      const answer = await translate({ text, target_lang: 'DE' });
      expectClean(answer);
      expect(workOf(answer).text).toEqual(text);
      expect(answer.json()).toMatchObject({ billed_characters: codePoints(text.join('')) });
    }
  });

  test('as a context: byte-exact to the engine, and free', async () => {
    const answers = await each((nasty) => translate({ text: ['a'], target_lang: 'DE', context: nasty }));
    expect(answers.map((answer) => workOf(answer).context)).toEqual(SHARE);
    expect(answers.every((answer) => (answer.json() as { billed_characters: number }).billed_characters === 1)).toBe(true);
  });

  test.each([
    ['target_lang', 'invalid_target_lang', {}],
    ['source_lang', 'invalid_source_lang', {}],
    ['formality', 'validation_error', {}],
    ['glossary_id', 'validation_error', { source_lang: 'EN' }],
  ])('as %s: %s', async (name, code, more) => {
    const answers = await each((nasty) => translate({ text: ['a'], target_lang: 'DE', ...more, [name]: nasty }));
    expect(new Set(answers.map(codeOf))).toEqual(new Set([code]));
  });

  test('as an unknown parameter: refused, even if it is the name of something else', async () => {
    const answers = await each((nasty) => input.ask({ body: `{"text":["a"],"target_lang":"DE",${JSON.stringify(nasty)}:"x"}` }));
    expect(new Set(answers.map(codeOf))).toEqual(new Set(['validation_error']));
  });

  test('as name, term and translation of a glossary: refused by rule, or stored and passed to the engine unchanged', async () => {
    const retained = await forEachOf(SHARE, AT_ONCE, (nasty) => throughGlossary(input, nasty));
    expect(retained).toEqual(SHARE.map((nasty) => (fitsGlossary(nasty) ? nasty.trim() : 'refused')));
  });

  test('in a path or a query, percent-encoded or raw: never anything but not found or refused', async () => {
    const encoded = await each((nasty) => input.ask({ method: 'GET', path: `/v1/glossaries/${encodeURIComponent(nasty)}` }));
    expect(encoded.filter(({ status }) => status !== 404)).toEqual([]);
    const asIs = await each((nasty) => input.ask({ method: 'GET', path: `/v1/glossaries/${printable(nasty)}` }));
    expect(asIs.filter(({ status }) => status !== 404)).toEqual([]);
    const queries = await each((nasty) => input.ask({ method: 'GET', path: `/v1/languages?type=${encodeURIComponent(nasty)}` }));
    expect(queries.filter(({ status }) => status !== 400)).toEqual([]);
  });

  test.each([
    ['Authorization', ''],
    ['Vendor-Auth-Key', ''],
    ['authorization', 'Bearer '],
  ])('in %s, behind "%s": not accepted as a key', async (name, before) => {
    const answers = await each((nasty) =>
      input.ask({ method: 'GET', path: '/v1/usage', headers: { authorization: '', [name]: before + fieldValue(nasty) } }),
    );
    expect(new Set(answers.map(codeOf))).toEqual(new Set(['unauthorized']));
  });

  test.each(['traceparent', 'X-Request-Id', 'User-Agent', 'Cookie', 'X-Forwarded-For', 'Accept-Language'])(
    'in %s: ignored, and not passed to the engine',
    async (name) => {
      const body = JSON.stringify({ text: ['a'], target_lang: 'DE' });
      const answers = await each((nasty) => input.ask({ headers: { [name]: fieldValue(nasty) }, body }));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      const passedOn = answers.map((answer) => Object.keys(input.engineSaw(answer)?.headers ?? {}).toSorted());
      expect(new Set(passedOn.map(String)).size).toBe(1);
      expect(passedOn[0]).not.toContain('traceparent');
    },
  );

  test.each(['Content-Type', 'Content-Encoding'])('in %s: refused', async (name) => {
    const body = JSON.stringify({ text: ['a'], target_lang: 'DE' });
    const answers = await each((nasty) => input.ask({ headers: { [name.toLowerCase()]: fieldValue(nasty) }, body }));
    const allowed = SHARE.map((nasty) => (name === 'Content-Type' && nasty.startsWith('application/json') ? 200 : 400));
    expect(answers.map(({ status }) => status)).toEqual(allowed);
  });
});

/** Creates a glossary with only this string, translates with it, and returns what the engine got. */
async function throughGlossary(input: InputGateway, nasty: string): Promise<string> {
  const draft = { name: nasty, source_lang: 'EN', target_lang: 'DE', entries: entriesOf(nasty) };
  let created = await input.ask({ path: '/v1/glossaries', body: JSON.stringify(draft) });
  expectClean(created);
  // What cannot be seen is no name of anything, but may be in a term.
  if (isHidden(nasty)) {
    expect(created.status).toBe(400);
    created = await input.ask({ path: '/v1/glossaries', body: JSON.stringify({ ...draft, name: 'terms' }) });
    expectClean(created);
  }
  if (created.status === 400) return 'refused';
  const { glossary_id: id, name } = created.json() as { readonly glossary_id: string; readonly name: string };
  const listed = await input.ask({ method: 'GET', path: `/v1/glossaries/${id}/entries` });
  expectClean(listed);
  const translated = await input.ask({
    body: JSON.stringify({ text: ['a'], source_lang: 'EN', target_lang: 'DE', glossary_id: id }),
  });
  expectClean(translated);
  const work = JSON.parse(input.engineSaw(translated)!.body) as Work;
  const shelved = listed.json() as Required<Work>['glossary'];
  const phrases = [shelved, work.glossary!].flatMap(({ entries }) => Object.entries(entries).flat());
  expect(new Set([...(isHidden(nasty) ? [] : [name]), ...phrases]).size).toBe(1);
  return phrases[0]!;
}

/** `__proto__` as an own member, which a literal would not create. */
function entriesOf(nasty: string): object {
  return Object.fromEntries([[nasty, nasty]]);
}

/** Characters that reorder a line or have no width; joiners are parts of words and emoji. */
function isHidden(nasty: string): boolean {
  const ranges = [
    [0x200b, 0x200b],
    [0x202a, 0x202e],
    [0x2060, 0x2064],
    [0x2066, 0x2069],
    [0xfeff, 0xfeff],
  ] as const;
  return Array.from(nasty.trim()).some((c) => ranges.some(([from, to]) => c.codePointAt(0)! >= from && c.codePointAt(0)! <= to));
}

/** The rules of a glossary's phrases, written independently of the product: one line of text that is not empty. */
function fitsGlossary(nasty: string): boolean {
  const phrase = nasty.trim();
  const breaks = Array.from(phrase).some((c) => {
    const code = c.codePointAt(0)!;
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029;
  });
  return phrase !== '' && !breaks && Array.from(phrase).length <= 200;
}

/** As the bytes of UTF-8 that a field may contain; control characters are covered by the HTTP table. */
function fieldValue(nasty: string): string {
  return Buffer.from(nasty, 'utf8')
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e\x80-\xff]/g, '');
}

/** The part of it that may be in a request target. */
function printable(nasty: string): string {
  return nasty.replaceAll(/[^!-~]|[?#/\\]/g, '') || '-';
}
