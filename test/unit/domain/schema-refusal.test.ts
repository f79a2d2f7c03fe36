// What the schema of a translate request refuses is refused, also where no hand-written rule knows of it, in words that help.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Languages } from '../../../src/domain/languages.ts';
import { schemaRefusal } from '../../../src/domain/caller-words.ts';
import { Check, Type } from '../../../src/domain/typebox.ts';

const SCHEMA = Type.Object(
  {
    tone: Type.Optional(Type.Enum(['plain', 'warm'], { type: 'string' })),
    share: Type.Optional(Type.Integer({ minimum: 1 })),
    words: Type.Optional(Type.Array(Type.String({ maxLength: 3 }))),
    rules: Type.Optional(Type.Object({ id: Type.String() }, { additionalProperties: false })),
  },
  { additionalProperties: false },
);

describe('a fallback names the member and what would be right', () => {
  test.each<[string, unknown, string]>([
    ['a value that is not listed', { tone: 'cold' }, 'tone: must be one of plain, warm.'],
    ['a listed value of another type', { tone: 5 }, 'tone: must be one of plain, warm.'],
    ['a number that is too small', { share: 0 }, 'share: must be >= 1.'],
    ['another type', { share: 'x' }, 'share: must be integer.'],
    ['an entry of a list', { words: ['a', 'long'] }, 'words[1]: must not have more than 3 characters.'],
    ['a missing member', { rules: {} }, 'rules.id: is required.'],
    ['a member that is not accepted', { rules: { id: 'x', 'a\r\nb': 1 } }, 'rules.a??b: is not accepted.'],
    ['not an object', 5, 'body: must be object.'],
  ])('%s', (_name, value, detail) => {
    expect(Check(SCHEMA, value)).toBe(false);
    expect(schemaRefusal(SCHEMA, value).problem).toMatchObject({ code: 'validation_error', detail });
  });
});

test('a rule that only the schema has is enforced, after all others', async () => {
  // Modules of its own: other files share the schema, which the first request compiles.
  vi.resetModules();
  onTestFinished(() => void vi.resetModules());
  const { judgeTranslateBody, TranslateBody } = await import('../../../src/domain/translate-request.ts');
  Reflect.set(TranslateBody.properties.context, 'pattern', '^[a-z]*$');
  const languages = new Languages({
    sources: [{ code: 'EN', name: 'English' }],
    targets: [{ code: 'DE', name: 'German', formality: true }],
  });
  const judged = (body: object) => judgeTranslateBody({ text: ['Hello'], target_lang: 'DE', ...body }, languages);
  expect(judged({ context: 'abc' })).toMatchObject({ kind: 'valid' });
  expect(judged({ context: 'ABC' })).toMatchObject({
    kind: 'invalid',
    refusal: { problem: { code: 'validation_error', detail: expect.stringMatching(/^context: must match pattern/) as unknown } },
    // The plan's limit on the length is still one of the rules for `text`, which come first.
    characters: 5,
  });
  expect(judged({ context: 'ABC', glossary_id: 5 })).toMatchObject({ refusal: { problem: { detail: 'glossary_id: must be a string.' } } });
});
