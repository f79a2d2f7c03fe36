// The parameter that a 400 is about, as logs have it: for every form of detail that some API uses.
import { expect, test } from 'vitest';
import { parameterOf } from '../../../src/domain/problem-parameter.ts';

test.each([
  ['text[1]: must not be an empty string.', 'text[1]'],
  ['context: may be at most 2000 characters long.', 'context'],
  ['Unknown parameter: glosary_id. Accepted are text, target_lang.', '(unknown)'],
  ['Unknown name: first, second. Accepted are q.', '(unknown)'],
  ['Content-Type: must be application/json.', 'Content-Type'],
  ["'glossary_id' and 'glossary_ids' cannot be used together.", 'glossary_id'],
  ["Value for 'target_lang' not supported.", 'target_lang'],
  ['Invalid request: text[3] has half of a surrogate pair.', 'text[3]'],
  ['Invalid request: missing q parameter', 'q'],
  ['source is not supported: use auto or a code that GET /languages lists', 'source'],
  ['Invalid Value: target must be a code that /languages lists.', 'target'],
  ['Bad language pair: target de is not offered; offered: fr.', 'target'],
  ['text_fields.name: must be a string.', 'text_fields.name'],
])('%s', (detail, parameter) => {
  expect(parameterOf({ code: 'validation_error', detail })).toBe(parameter);
});

test.each([
  ['invalid_target_lang', 'target_lang'],
  ['invalid_source_lang', 'source_lang'],
  ['too_many_texts', 'text'],
  ['text_too_long', 'text'],
  ['validation_error', undefined],
])('a detail that names none leaves what the code %s says', (code, parameter) => {
  expect(parameterOf({ code, detail: 'The body may hold at most 50 of them.' })).toBe(parameter);
});

test("a caller's own words are never repeated", () => {
  const key = `la_live_${'a'.repeat(40)}`;
  for (const word of [key, 'my secret text', 'ключ', 'a"b', 'a\nb', 'x'.repeat(41)]) {
    expect(parameterOf({ code: 'validation_error', detail: `Unknown parameter: ${word}. Accepted are text.` })).toBe('(unknown)');
  }
});
