// What the API reference says of POST /translate.
import Type from 'typebox';
import { TRANSLATION_PROBLEMS } from 'lingate';
import type { RouteDoc } from 'lingate';
import { TextsBody } from './azure-texts.ts';

type QueryDoc = NonNullable<RouteDoc['query']>[number];

/** Of every route. */
export const API_VERSION: QueryDoc = {
  name: 'api-version',
  description: 'The version of the API.',
  schema: Type.Literal('3.0'),
  required: true,
  example: '3.0',
};

const text = (name: string, example: string, description: string): QueryDoc => ({ name, description, schema: Type.String(), example });

const QUERY: readonly QueryDoc[] = [
  API_VERSION,
  {
    name: 'to',
    description: 'A code to translate into; given up to 50 times. `en` and `pt` mean the variant that the operator has chosen.',
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: 50 }),
    required: true,
    example: ['de'],
  },
  text('from', 'en', 'The code of what the texts are in. Without it the engine finds out.'),
  text('textType', 'plain', '`plain`, the default, or `html` where the engine handles it.'),
  text('category', 'general', '`general`; another one is refused: there are no custom systems.'),
  text('suggestedFrom', 'en', 'A source code; without effect.'),
  text('allowFallback', 'true', '`true` or `false`; without effect.'),
  text('profanityAction', 'NoAction', '`NoAction`; `Marked` and `Deleted` are refused.'),
  text('profanityMarker', 'Asterisk', '`Asterisk` or `Tag`; without effect.'),
  text('includeAlignment', 'false', '`false`; `true` is refused.'),
  text('includeSentenceLength', 'false', '`false`; `true` is refused.'),
];

const AzureAnswer = Type.Array(
  Type.Object({
    detectedLanguage: Type.Optional(
      Type.Object(
        {
          language: Type.String({ description: 'The code.' }),
          score: Type.Number({ description: 'Always 1: engines tell a language and not how sure they are.' }),
        },
        { description: 'Without `from`, where the engine tells.' },
      ),
    ),
    translations: Type.Array(
      Type.Object({ text: Type.String({ description: 'The translation.' }), to: Type.String({ description: 'The code as in `to`.' }) }),
      { description: 'One for each `to`, in their order.' },
    ),
  }),
);

export const TRANSLATE_DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    'Translates up to 50 texts, each into every language of `to`, all or nothing. Their characters are charged once for each language. Parameters beyond these are ignored, but `fromScript` and `toScript` are refused.',
  authenticated: true,
  tag: 'Translation',
  query: QUERY,
  body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Hello' }] },
  answer: {
    status: 200,
    description: 'An entry for each text, in their order.',
    schema: AzureAnswer,
    example: [{ translations: [{ text: 'Hallo', to: 'de' }] }],
    headers: { 'X-metered-usage': { description: 'The characters that were charged.', example: '5' } },
  },
  problems: TRANSLATION_PROBLEMS,
};
