// What the API reference says of POST /translate.
import Type from 'typebox';
import { TRANSLATION_PROBLEMS } from 'lingate';
import type { RouteDoc } from 'lingate';
import { ApiKey, BODY_TYPES } from './libretranslate-document.ts';

const text = (description: string) => Type.String({ description });

const LibreTranslateBody = Type.Object(
  {
    q: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 50 })], {
      description: 'A text, or up to 50. In a form the field is repeated. Empty ones of a list come back empty.',
    }),
    source: text('A code that the texts are in, or `auto`: the engine finds out.'),
    target: text('A code to translate into; `en` and `pt` mean the variant that the operator has chosen.'),
    format: Type.Optional(text('`text`, the default, or `html` where the engine handles it.')),
    alternatives: Type.Optional(
      Type.Union([Type.Integer(), Type.String()], {
        description: 'How many more translations are wanted: there are none, the list is empty.',
      }),
    ),
    api_key: ApiKey,
  },
  { title: 'LibreTranslate' },
);

const DeepLXBody = Type.Object(
  {
    text: text('The text.'),
    source_lang: Type.Optional(text('A code that the text is in; without it, or with `auto`, the engine finds out.')),
    target_lang: text('A code to translate into.'),
    tag_handling: Type.Optional(text('`html` or `xml`, where the engine handles it.')),
    api_key: ApiKey,
  },
  { title: 'DeepLX' },
);

const Detected = Type.Object({
  confidence: Type.Number({ description: 'Always 100: engines tell a language and not how sure they are.' }),
  language: text('The code.'),
});

const LibreTranslateAnswer = Type.Object(
  {
    translatedText: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'In the shape of `q`.' }),
    detectedLanguage: Type.Optional(
      Type.Union([Detected, Type.Array(Detected)], { description: 'In the shape of `q`; with `auto`, where the engine tells.' }),
    ),
    alternatives: Type.Optional(Type.Array(Type.Unknown(), { description: 'Empty, in the shape of `q`; where some were asked for.' })),
  },
  { title: 'LibreTranslate' },
);

const DeepLXAnswer = Type.Object(
  {
    code: Type.Literal(200),
    id: Type.Integer({ description: 'Of no meaning.' }),
    data: text('The translation.'),
    alternatives: Type.Array(Type.String(), { description: 'Always empty.' }),
    source_lang: text('What the text was taken to be in; empty where nobody has found out.'),
    target_lang: text('What it was translated into.'),
    method: text('Of no meaning.'),
  },
  { title: 'DeepLX' },
);

export const TRANSLATION_DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    'Translates one text or several. Parameters beyond these are ignored. What has `text` and no `q` is in the shape of DeepLX and is answered in it; its failures are those of this API.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'The texts, and how to translate them.',
    schema: Type.Union([LibreTranslateBody, DeepLXBody]),
    example: { q: 'Hello, world!', source: 'en', target: 'de' },
    examples: {
      list: {
        summary: 'Several texts of unknown languages',
        value: { q: ['Hello', 'Bonjour'], source: 'auto', target: 'es', format: 'text' },
      },
      deeplx: { summary: 'As clients of DeepLX ask', value: { text: 'Hello, world!', source_lang: 'EN', target_lang: 'DE' } },
    },
    contentTypes: BODY_TYPES,
  },
  answer: {
    status: 200,
    description: 'The translations.',
    schema: Type.Union([LibreTranslateAnswer, DeepLXAnswer]),
    example: { translatedText: 'Hallo, Welt!' },
    examples: {
      list: {
        summary: 'Several texts of unknown languages',
        value: {
          translatedText: ['Hola', 'Buenos días'],
          detectedLanguage: [
            { confidence: 100, language: 'en' },
            { confidence: 100, language: 'fr' },
          ],
        },
      },
      deeplx: {
        summary: 'As clients of DeepLX expect',
        value: {
          code: 200,
          id: 8356681003,
          data: 'Hallo, Welt!',
          alternatives: [],
          source_lang: 'EN',
          target_lang: 'DE',
          method: 'Free',
        },
      },
    },
  },
  problems: TRANSLATION_PROBLEMS,
};
