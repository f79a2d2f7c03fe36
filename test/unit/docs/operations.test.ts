// The API reference agrees with the code: routes, codes, members and bodies.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeApis } from '../../../src/app/api-description.ts';
import { describeRoutes } from '../../../src/app/route-rows.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { problems, problemsWith } from '../../../src/core/problem.ts';
import type { ProblemCode } from '../../../src/core/problem.ts';
import { judgeGlossaryBody } from '../../../src/domain/glossary.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { judgeTranslateBody } from '../../../src/domain/translate-request.ts';
import { operations } from '../../../src/docs/operations.ts';
import { Documented } from './documented.ts';
import type { OpenApi } from './documented.ts';
import { draws } from '../../support/seed.ts';

const config = loadConfig({ file: undefined, env: {}, flags: {} });
const documented = new Documented((await describeApis(config)).service as unknown as OpenApi);
const languages = new Languages(config.languages);
const codes = Object.keys(problems) as ProblemCode[];

describe('routes', () => {
  test('that are served are exactly those in the reference and in the document', async () => {
    const served = (await describeRoutes(config)).map(({ route }) => route).toSorted();
    expect(Object.keys(operations).toSorted()).toEqual(served);
    expect(documented.routes.toSorted()).toEqual(served);
  });

  test('need a key and take a body exactly where that is documented', async () => {
    for (const { route, steps } of await describeRoutes(config)) {
      const { authenticated, body } = operations[route]!;
      const { security, requestBody } = documented.operation(route);
      expect([route, authenticated, security?.length !== 0]).toEqual([route, steps.includes('identify'), steps.includes('identify')]);
      const reads = steps.some((step) => step.startsWith('read'));
      expect([route, body !== undefined, requestBody !== undefined]).toEqual([route, reads, reads]);
    }
  });
});

describe('problems', () => {
  test('all codes of the API are schemas of the document, and those of the dashboard are not', () => {
    const described = Object.values(documented.document.components.schemas)
      .map((schema) => (schema as { properties?: { code?: { const?: string } } }).properties?.code?.const)
      .filter((code) => code !== undefined);
    expect(described.toSorted()).toEqual(problemsWith({}).toSorted());
  });

  test('every response field has an example', () => {
    const { headers } = documented.document.components;
    const fields = codes.flatMap((code) => problems[code].headers);
    expect(fields.filter((name) => headers[name]?.example === undefined)).toEqual([]);
  });
});

describe('the list of languages in the document', () => {
  test.each(['source', 'target'] as const)('has exactly the %s codes', (kind) => {
    const { enum: listed } = documented.document.components.schemas[kind === 'source' ? 'SourceLanguage' : 'TargetLanguage'] as {
      enum: string[];
    };
    expect(listed).toEqual(config.languages[`${kind}s`].map(({ code }) => code));
  });
});

const good = { text: ['a'], target_lang: 'DE', source_lang: 'EN', formality: 'more', context: 'x' };
const glossary = { name: 'a', source_lang: 'EN', target_lang: 'DE', entries: { a: 'b' } };

const text = fc.oneof(fc.constantFrom('', 'a', ' ', '👍'), fc.string({ unit: 'grapheme', maxLength: 5 }), fc.constant(1));
const language = fc.constantFrom('DE', 'EN', 'EN-GB', 'XX', 'PT', 'PT-BR', 7);
const term = fc.constantFrom('', 'a', 'b ', 'x'.repeat(500), 'x'.repeat(501));

/** A good body with at most two members replaced by good or bad values. */
const translateBody = changed(good, {
  text: fc.oneof(fc.array(text, { maxLength: 3 }), fc.constant(Array.from({ length: 51 }, () => 'a')), fc.constant('a')),
  target_lang: language,
  source_lang: language,
  formality: fc.constantFrom('default', 'more', 'less', 'prefer_more', 'prefer_less', 'polite', true),
  context: fc.oneof(text, fc.constantFrom('x'.repeat(2000), '👍'.repeat(2000), 'x'.repeat(2001), null)),
  glossary_id: fc.constantFrom('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nonsense', 5),
  formal: fc.constant('more'),
});
const glossaryBody = changed(glossary, {
  name: fc.oneof(text, fc.constantFrom('x'.repeat(200), 'x'.repeat(201))),
  source_lang: language,
  target_lang: language,
  entries: fc.oneof(fc.dictionary(term, fc.oneof(text, term), { maxKeys: 3 }), fc.constant([])),
  entry: fc.constant(1),
});

function changed(body: object, changes: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  const some = fc.shuffledSubarray(Object.entries(changes), { maxLength: 2 });
  return some.chain((entries) => fc.record(Object.fromEntries(entries))).map((change) => ({ ...body, ...change }));
}

describe('an accepted body matches the document', () => {
  const accepts = {
    TranslateRequest: (body: object) => judgeTranslateBody(body, languages).kind === 'valid',
    GlossaryRequest: (body: object) => !('problem' in judgeGlossaryBody(body, languages)),
  };

  test.each([
    ['TranslateRequest', translateBody],
    ['GlossaryRequest', glossaryBody],
  ] as const)('%s', (schema, bodies) => {
    let accepted = 0;
    fc.assert(
      fc.property(bodies, (body) => {
        if (!accepts[schema](body)) return true;
        accepted++;
        return documented.matches(schema, body);
      }),
      { numRuns: draws(500) },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
