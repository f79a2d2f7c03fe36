// The rules of a translate body, in their documented order.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Languages } from '../../../src/domain/languages.ts';
import { NOTHING_CHOSEN } from '../../../src/domain/translation-options.ts';
import { judgeTranslateBody, TranslateBody } from '../../../src/domain/translate-request.ts';
import { Check } from '../../../src/domain/typebox.ts';
import { draws } from '../../support/seed.ts';

const languages = new Languages({
  sources: [
    { code: 'EN', name: 'English' },
    { code: 'DE', name: 'German' },
  ],
  targets: [
    { code: 'DE', name: 'German', formality: true },
    { code: 'EN-GB', name: 'English (British)', formality: false },
  ],
});
const ULID = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const good = { text: ['Hello'], target_lang: 'DE' };

function judged(body: unknown): { code: string; detail: string; characters: number | undefined } | 'valid' {
  const verdict = judgeTranslateBody(body, languages);
  if (verdict.kind === 'valid') return 'valid';
  const { code, detail } = verdict.refusal.problem;
  return { code, detail, characters: verdict.characters };
}

describe('refused bodies', () => {
  test.each<[string, unknown, string, string]>([
    ['not an object', 5, 'validation_error', 'body:'],
    ['null', null, 'validation_error', 'body:'],
    ['an array', [], 'validation_error', 'body:'],
    ['an unknown parameter', { ...good, target_language: 'DE' }, 'validation_error', 'target_language'],
    ['a __proto__ member', JSON.parse('{"text":["a"],"target_lang":"DE","__proto__":{}}'), 'validation_error', '__proto__'],
    ['no text', { target_lang: 'DE' }, 'validation_error', 'text:'],
    ['text is a string', { ...good, text: 'Hello' }, 'validation_error', 'text:'],
    ['text is empty', { ...good, text: [] }, 'validation_error', 'text:'],
    ['51 texts', { ...good, text: Array.from({ length: 51 }, () => 'a') }, 'too_many_texts', 'text:'],
    [
      '51 texts, the first empty: the count is reported',
      { ...good, text: Array.from({ length: 51 }, () => '') },
      'too_many_texts',
      'text:',
    ],
    ['an entry that is not a string', { ...good, text: ['a', 5] }, 'validation_error', 'text[1]:'],
    ['an entry that is empty', { ...good, text: ['a', 'b', ''] }, 'validation_error', 'text[2]:'],
    ['an entry with half a surrogate pair', { ...good, text: ['a\ud800'] }, 'validation_error', 'text[0]:'],
    ['no target_lang', { text: ['a'] }, 'invalid_target_lang', 'target_lang:'],
    ['target_lang is not a string', { ...good, target_lang: 5 }, 'invalid_target_lang', 'target_lang:'],
    ['target_lang is a base code with variants', { ...good, target_lang: 'EN' }, 'invalid_target_lang', 'target_lang:'],
    ['source_lang is regional', { ...good, source_lang: 'EN-GB' }, 'invalid_source_lang', 'source_lang:'],
    ['source_lang is null', { ...good, source_lang: null }, 'invalid_source_lang', 'source_lang:'],
    ['source_lang is empty', { ...good, source_lang: '' }, 'invalid_source_lang', 'source_lang:'],
    ['formality is unknown', { ...good, formality: 'formal' }, 'validation_error', 'formality:'],
    ['formality is null', { ...good, formality: null }, 'validation_error', 'formality:'],
    ['more without support', { ...good, target_lang: 'EN-GB', formality: 'more' }, 'validation_error', 'formality:'],
    ['context too long', { ...good, context: 'x'.repeat(2001) }, 'validation_error', 'context:'],
    ['context is not a string', { ...good, context: ['x'] }, 'validation_error', 'context:'],
    ['context with half a surrogate pair', { ...good, context: '\udc00' }, 'validation_error', 'context:'],
    ['glossary_id is not a string', { ...good, source_lang: 'EN', glossary_id: 5 }, 'validation_error', 'glossary_id:'],
    ['glossary_id is not a ULID', { ...good, source_lang: 'EN', glossary_id: 'x' }, 'validation_error', 'glossary_id:'],
    ['glossary without source_lang', { ...good, glossary_id: ULID }, 'validation_error', 'source_lang:'],
  ])('%s', (_name, body, code, field) => {
    const result = judged(body);
    expect(result).toMatchObject({ code });
    expect(result).toHaveProperty('detail', expect.stringContaining(field));
  });

  test('the first violated rule is reported', () => {
    expect(judged({ text: [''], target_lang: 'X', source_lang: 'X', formality: 'X' })).toMatchObject({ code: 'validation_error' });
    expect(judged({ text: ['a'], target_lang: 'X', source_lang: 'X', formality: 'X' })).toMatchObject({ code: 'invalid_target_lang' });
    expect(judged({ text: ['a'], target_lang: 'DE', source_lang: 'X', formality: 'X' })).toMatchObject({ code: 'invalid_source_lang' });
    expect(judged({ ...good, bad: 1, text: [] })).toHaveProperty('detail', expect.stringContaining('bad'));
  });

  test('the characters are known once the texts are valid, so that the plan’s limit can be checked first', () => {
    expect(judged({ text: ['ab', '👍'], target_lang: 'X' })).toMatchObject({ characters: 3 });
    expect(judged({ text: ['ab', ''], target_lang: 'X' })).toMatchObject({ characters: undefined });
  });

  test('unknown names are shown truncated and without control characters', () => {
    const detail = (judged({ ...good, ['a\r\nb']: 1, ['y'.repeat(500)]: 1, c: 1, d: 1 }) as { detail: string }).detail;
    expect(detail).toContain('a??b');
    expect(detail).toContain('and 1 more');
    expect(detail.length).toBeLessThan(250);
  });
});

describe('accepted bodies', () => {
  const request = (body: unknown) => {
    const verdict = judgeTranslateBody(body, languages);
    if (verdict.kind === 'invalid') throw new Error(verdict.refusal.problem.detail);
    return verdict.request;
  };

  test('codes become canonical, and characters are the code points of text only', () => {
    expect(request({ text: ['Hé👍'], target_lang: 'en-gb', source_lang: 'de', context: 'not counted' })).toEqual({
      text: ['Hé👍'],
      characters: 3,
      options: { ...NOTHING_CHOSEN, targetLang: 'EN-GB', sourceLang: 'DE', context: 'not counted' },
      glossaryId: undefined,
    });
  });

  test.each([
    ['default', 'DE', undefined],
    ['more', 'DE', 'more'],
    ['prefer_less', 'DE', 'prefer_less'],
    ['prefer_more', 'EN-GB', undefined],
    ['default', 'EN-GB', undefined],
  ])('formality %s for %s reaches the engine as %s', (formality, target_lang, expected) => {
    expect(request({ ...good, target_lang, formality }).options.formality).toBe(expected);
  });

  test('limits are exact: 50 texts, 2,000 code points of context', () => {
    expect(judged({ ...good, text: Array.from({ length: 50 }, () => 'a'), context: '👍'.repeat(2000) })).toBe('valid');
    expect(judged({ ...good, context: '👍'.repeat(2001) })).toMatchObject({ code: 'validation_error' });
  });

  test('a glossary id is accepted in either case', () => {
    expect(request({ ...good, source_lang: 'EN', glossary_id: ULID.toLowerCase() }).glossaryId).toBe(ULID);
  });
});

describe('the schema is the rule', () => {
  const RUNS = { numRuns: draws(300) };
  const fits = (body: unknown): boolean => Check(TranslateBody, body);
  /** Breaks nothing that a schema cannot say: languages and pairs, halves of characters, what a target supports. */
  const sound = {
    text: fc.array(fc.string(), { minLength: 1, maxLength: 3 }),
    target_lang: fc.constantFrom('DE', 'de'),
    source_lang: fc.constantFrom('EN', 'en', 'DE'),
    formality: fc.constantFrom('default', 'more', 'less', 'prefer_more', 'prefer_less'),
    context: fc.constantFrom('', 'x'.repeat(2000), '👍'.repeat(2000)),
    glossary_id: fc.constant(ULID),
  };
  const wrong = {
    text: fc.constantFrom<unknown>(
      [],
      [''],
      ['a', 5],
      Array.from({ length: 51 }, () => 'a'),
      'a',
      null,
    ),
    target_lang: fc.constantFrom<unknown>(5, null, ['DE']),
    source_lang: fc.constantFrom<unknown>(5, null, ['DE']),
    formality: fc.constantFrom<unknown>('formal', '', null, 5, ['more']),
    context: fc.constantFrom<unknown>('x'.repeat(2001), '👍'.repeat(2001), null, 5, {}),
    glossary_id: fc.constantFrom<unknown>(5, null, {}),
    tone: fc.constantFrom<unknown>('warm', null),
  };
  const nearly = fc
    .record(sound, { requiredKeys: ['text', 'target_lang', 'source_lang'] })
    .chain((body) => fc.record(wrong, { requiredKeys: [] }).map((spoilt) => ({ ...body, ...spoilt })));
  const within = fc.oneof(fc.record(sound, { requiredKeys: ['text', 'target_lang', 'source_lang'] }), nearly);

  test('what it refuses is never accepted, whatever the body', () => {
    fc.assert(
      fc.property(fc.oneof(within, fc.dictionary(fc.constantFrom(...Object.keys(wrong)), fc.jsonValue())), (body) => {
        if (!fits(body)) expect(judged(body)).not.toBe('valid');
      }),
      RUNS,
    );
  });

  test('what it accepts is accepted, unless a rule is broken that no schema can state', () => {
    fc.assert(
      fc.property(within, (body) => {
        expect(judged(body) === 'valid').toBe(fits(body));
      }),
      RUNS,
    );
  });
});
