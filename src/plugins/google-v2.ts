// The plugin `lingate/plugins/google-v2`: Google's Translation API v2 with the same keys, charges.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { DefaultVariants } from './facades/codes.ts';
import { absent, apiOf } from './facades/operation.ts';
import { JSON_OR_FORM, shown } from './facades/reference.ts';
import * as google from './google/google-operations.ts';
import { failureSchema, googleApi, problemForm, textsLimit, textsParameter } from './google/google-api.ts';

const Q_LIMIT = textsLimit('q', 128);
/** Checked to find mistakes: both names have stood for the same model for years. */
const MODEL = {
  name: 'model',
  does: 'nothing',
  about: '`nmt` or `base`; has no effect.',
  example: 'nmt',
  judge: (model: unknown) =>
    model === 'nmt' || model === 'base' ? undefined : refuse('validation_error', 'model: must be one of nmt, base.'),
} as const;

/** The texts come first, so that texts that are too long are reported before anything else. */
export const PARAMETERS: readonly google.TranslationParameter[] = [
  textsParameter(Q_LIMIT, 'A text, or up to 128; repeat it in a form or a query. An empty text among others stays empty.'),
  ...google.choiceParameters({ target: 'target', source: 'source', format: 'format', text: 'text', html: 'html' }),
  MODEL,
];

const PATH = '/language/translate/v2';
const LIST = 'Several texts of unknown languages';
const FEW = 'The same for texts that are short enough for a URL. Proxies may log them.';
const SEVERAL = [
  { translatedText: 'Hola', detectedSourceLanguage: 'en' },
  { translatedText: 'Buenos días', detectedSourceLanguage: 'fr' },
];

const TRANSLATE = {
  routes: [
    {
      at: `POST ${PATH}`,
      summary: 'Translate texts',
      description: 'Translates one text or up to 128, all or none of them. Parameters may also be in the query; unknown ones are refused.',
    },
    { at: `GET ${PATH}`, summary: 'Translate texts in the query', description: FEW },
  ],
  parameters: PARAMETERS,
  body: {
    description: 'As a JSON object or as a form.',
    example: { q: 'Hello, world!', source: 'en', target: 'de', format: 'text' },
    examples: { list: { summary: LIST, value: { q: ['Hello', 'Bonjour'], target: 'es', format: 'text' } } },
    contentTypes: JSON_OR_FORM,
  },
  answer: shown(
    'All texts are translated, and charged.',
    {
      translations: 'One per text, in the order of the texts.',
      translatedText: 'The translation.',
      detectedSourceLanguage: 'If no source was given and the engine reports it.',
    },
    { data: { translations: [{ translatedText: 'Hallo, Welt!' }] } },
    { list: { summary: LIST, value: { data: { translations: SEVERAL } } } },
  ),
} as const;

const DETECT = {
  routes: [
    {
      at: `POST ${PATH}/detect`,
      summary: 'Detect languages',
      description: 'Detects the languages of texts from their beginnings. It counts towards the request rate and costs nothing.',
    },
    { at: `GET ${PATH}/detect`, summary: 'Detect languages of texts in the query', description: FEW },
  ],
  parameters: [{ ...textsParameter(Q_LIMIT, 'A text, or up to 128; repeat it in a form or a query.'), example: 'Bonjour tout le monde' }],
  body: { description: 'As a JSON object or as a form.', example: { q: 'Bonjour tout le monde' }, contentTypes: JSON_OR_FORM },
  problems: ['too_many_texts', 'text_too_long', 'engine_unavailable'],
  answer: shown(
    'The languages.',
    {
      detections: 'One list per text, in the order of the texts, with one entry each.',
      language: 'The code; `und` if the engine cannot detect it.',
      isReliable: 'Always false, as at Google.',
      confidence: '1, or 0 for `und`: engines report no confidence.',
    },
    {
      data: { detections: [[{ language: 'fr', isReliable: false, confidence: 1 }]] },
    },
  ),
} as const;

const LANGUAGES = {
  routes: [
    { at: `GET ${PATH}/languages`, summary: 'List languages', description: google.ABOUT_LANGUAGES },
    {
      at: `POST ${PATH}/languages`,
      summary: 'List languages, by POST',
      description: 'The same with the parameters in a body.',
    },
  ],
  parameters: [google.localeParameter('target'), MODEL],
  body: { description: 'As a JSON object or as a form.', example: { target: 'en' }, contentTypes: JSON_OR_FORM, optional: true },
  answer: shown(
    'The list.',
    { language: 'The code.', name: 'With `target`.' },
    { data: { languages: [{ language: 'de', name: 'German' }, { language: 'zh-CN' }] } },
  ),
} as const;

export const PROBLEM_FORM = problemForm(({ message: text, domain, reason }) => ({ errors: [{ message: text, domain, reason }] }));

const DOCUMENT: ApiDocument = {
  title: 'Cloud Translation API v2',
  version: '2',
  summary: "Google's Cloud Translation API v2, with the keys, limits and charges of this service.",
  description:
    'For clients of version 2 (Basic) of the API: they only need this address and a key of this service. The engine is the ' +
    "service's own. If the operator allows it, a key is also accepted as `key` in the query; a wrong key is a 400 " +
    'with the reason `API_KEY_INVALID`. A quota or credit that is used up is a 403 with the reason `dailyLimitExceeded`.',
  tags: { Translation: 'Translate texts.', Languages: 'Supported languages, and language detection.' },
  failure: failureSchema(PROBLEM_FORM, 'Why, in one word: `API_KEY_INVALID`, `rateLimitExceeded`.'),
  keyField: 'X-Goog-Api-Key',
};

const NOT_HERE = refuse(
  'not_found',
  'This is version 2 of the API: /language/translate/v2 with /detect and /languages. Version 3 is another plugin of this service.',
);

export default definePlugin({
  name: 'google-v2',
  options: Type.Object(
    {
      default_variants: DefaultVariants,
      key_in_query: google.KEY_IN_QUERY,
      key_in_body: Type.Boolean({
        default: false,
        description: 'Whether to accept a key as `key` in a form or JSON body if neither a header nor the query has one.',
      }),
    },
    { additionalProperties: false, default: {} },
  ),
  setup({ default_variants: variants, key_in_query: inQuery, key_in_body: inBody }, host) {
    const api = googleApi(variants, { inQuery, inBody }, Q_LIMIT, host);
    const parts = [
      api.key,
      google.translation(api, host, TRANSLATE, (all) => {
        return { data: { translations: all.map(({ text, code }) => ({ translatedText: text, detectedSourceLanguage: code })) } };
      }),
      google.detection(api, host, DETECT, (all) => {
        return { data: { detections: all.map(({ code, confidence }) => [{ language: code, isReliable: false, confidence }]) } };
      }),
      google.languageList(api, host, LANGUAGES, (all) => ({
        data: { languages: all.map(({ theirs, name }) => ({ language: theirs, name })) },
      })),
      absent('google-not-offered', NOT_HERE, ['access-log'], ['* /language/translate/*']),
    ];
    return apiOf(parts, DOCUMENT, PROBLEM_FORM);
  },
});
