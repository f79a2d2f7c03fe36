// What the API reference says of translations.
import Type from 'typebox';
import { TRANSLATION_PROBLEMS } from 'lingate';
import type { RouteDoc } from 'lingate';

const PARAMETERS = {
  target: 'A code that /languages lists, in any case; `en` and `pt` mean the variant that the operator has chosen.',
  source: 'A code that /languages lists; without it the engine finds out.',
  format: '`html`, the default, or `text`. For an engine that handles no HTML, texts without `<` and `&` are taken as text.',
  model: '`nmt` or `base`; without effect.',
} as const;

const Body = Type.Object({
  q: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 128 })], {
    description: 'A text, or up to 128. In a form the field is repeated. An empty text among others stays empty.',
  }),
  target: Type.String({ description: PARAMETERS.target }),
  source: Type.Optional(Type.String({ description: PARAMETERS.source })),
  format: Type.Optional(Type.String({ description: PARAMETERS.format })),
  model: Type.Optional(Type.String({ description: PARAMETERS.model })),
});

const Answer = Type.Object({
  data: Type.Object({
    translations: Type.Array(
      Type.Object({
        translatedText: Type.String({ description: 'The translation.' }),
        detectedSourceLanguage: Type.Optional(Type.String({ description: 'If no source was given and the engine tells.' })),
      }),
      { description: 'One per text, in the order of the texts.' },
    ),
  }),
});

const answer = {
  status: 200,
  description: 'All texts are translated, and were charged.',
  schema: Answer,
  example: { data: { translations: [{ translatedText: 'Hallo, Welt!' }] } },
} as const;

export const POST_DOC: RouteDoc = {
  summary: 'Translate texts',
  description: 'Translates one text or up to 128, all or none of them. Parameters may stand in the query too; unknown ones are refused.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'As a JSON object or as a form.',
    schema: Body,
    example: { q: 'Hello, world!', source: 'en', target: 'de', format: 'text' },
    examples: {
      list: { summary: 'Several texts of unknown languages', value: { q: ['Hello', 'Bonjour'], target: 'es', format: 'text' } },
    },
    contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
  },
  answer: {
    ...answer,
    examples: {
      list: {
        summary: 'Several texts of unknown languages',
        value: {
          data: {
            translations: [
              { translatedText: 'Hola', detectedSourceLanguage: 'en' },
              { translatedText: 'Buenos días', detectedSourceLanguage: 'fr' },
            ],
          },
        },
      },
    },
  },
  problems: TRANSLATION_PROBLEMS,
};

export const GET_DOC: RouteDoc = {
  summary: 'Translate texts of a query',
  description: 'The same for texts that are short enough to stand in an address. What is on the way may log them.',
  authenticated: true,
  tag: 'Translation',
  query: [
    { name: 'q', description: 'A text; repeated for several.', schema: Type.String(), required: true, example: 'Hello, world!' },
    { name: 'target', description: PARAMETERS.target, schema: Type.String(), required: true, example: 'de' },
    { name: 'source', description: PARAMETERS.source, schema: Type.String(), example: 'en' },
    { name: 'format', description: PARAMETERS.format, schema: Type.String(), example: 'text' },
    { name: 'model', description: PARAMETERS.model, schema: Type.String(), example: 'nmt' },
  ],
  answer,
  problems: TRANSLATION_PROBLEMS,
};
