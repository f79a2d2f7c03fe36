// The rules of bodies, on anything that JSON can contain: always a result, never an exception, and the right one if valid.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judgeGlossaryBody } from '../../../src/domain/glossary.ts';
import { Languages } from '../../../src/domain/languages.ts';
import { FORMALITIES, judgeTranslateBody } from '../../../src/domain/translate-request.ts';
import { countedRuns } from './counted-runs.ts';
import { anyText } from './near-misses.ts';

const RUNS = countedRuns('rules of translations and glossaries', 2000);
const LANGUAGES = new Languages({
  sources: [{ code: 'EN', name: 'English' }],
  targets: [
    { code: 'DE', name: 'German', formality: true },
    { code: 'PT-BR', name: 'Portuguese', formality: false },
  ],
});
const CODES = ['validation_error', 'invalid_target_lang', 'invalid_source_lang', 'too_many_texts'];

/** Right, wrong in a relevant way, or anything at all. */
const nearly = (...right: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...right) },
    { weight: 1, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
const texts = fc.oneof({ weight: 4, arbitrary: fc.array(anyText, { maxLength: 3 }) }, { weight: 1, arbitrary: fc.jsonValue() });

/** As `JSON.parse` creates it: `__proto__` is a member like any other. */
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;

test('translations: any body gets a result, and a valid one keeps its texts and counts their code points', () => {
  const bodies = fc.record(
    {
      text: texts,
      target_lang: nearly('DE', 'pt-br', 'Pt-BR'),
      source_lang: nearly('EN', 'en'),
      formality: nearly(...FORMALITIES),
      context: fc.oneof(anyText, fc.jsonValue()),
      glossary_id: nearly('01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x'),
      ['__proto__']: fc.constant({}),
    },
    { requiredKeys: ['text', 'target_lang'] },
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: bodies }, { weight: 1, arbitrary: fc.jsonValue() }), (body) => {
      const value = parsed(body);
      const verdict = judgeTranslateBody(value, LANGUAGES);
      const seen =
        verdict.kind === 'valid' ? { text: verdict.request.text, characters: verdict.request.characters } : verdict.refusal.problem.code;
      const { text } = (value ?? {}) as { readonly text: readonly string[] };
      const expected: unknown = verdict.kind === 'valid' ? { text, characters: Array.from(text.join('')).length } : expect.toBeOneOf(CODES);
      expect(seen).toEqual(expected);
    }),
    RUNS,
  );
});

test('glossaries: any body gets a result, and a valid one keeps its entries except for surrounding blanks', () => {
  const entries = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.tuple(anyText, anyText), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const bodies = fc.record(
    { name: fc.oneof(fc.string({ minLength: 1 }), fc.jsonValue()), source_lang: nearly('EN'), target_lang: nearly('DE'), entries },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: bodies }, { weight: 1, arbitrary: fc.jsonValue() }), (body) => {
      const value = parsed(body);
      const verdict = judgeGlossaryBody(value, LANGUAGES);
      const seen = verdict.kind === 'valid' ? verdict.draft.entries : verdict.refusal.problem.code;
      const given = Object.entries(((value ?? {}) as { readonly entries?: Record<string, string> }).entries ?? {});
      const expected: unknown =
        verdict.kind === 'valid'
          ? Object.fromEntries(given.map(([term, translation]) => [term.trim(), translation.trim()]))
          : expect.toBeOneOf(CODES);
      expect(seen).toEqual(expected);
    }),
    RUNS,
  );
});
