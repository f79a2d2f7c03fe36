// The plugin `lingate/plugins/google-v3`: Google's Translation API v3 with the same keys, charges.
import { definePlugin, refuse, TRANSLATION_PROBLEMS } from 'lingate';
import type { ApiDocument, NamedTag } from 'lingate';
import Type from 'typebox';
import { DefaultVariants } from './facades/codes.ts';
import { absent, apiOf } from './facades/operation.ts';
import type { OperationRoute } from './facades/operation.ts';
import type { Judged } from './facades/parameters.ts';
import { shown } from './facades/reference.ts';
import * as google from './google/google-operations.ts';
import { failureSchema, googleApi, invalid, problemForm, textsLimit, textsParameter } from './google/google-api.ts';

/** An operation below a project, and below a location of it. */
function routesOf(method: string, operation: string, summary: string, description: string): readonly OperationRoute[] {
  const parameter = { description: 'Any name.', example: 'any' };
  const moreParameters = [{ description: 'Any name.', example: 'global' }];
  const below = `${method} /v3/projects/{project}`;
  return [
    { at: below + operation, summary, description, parameter },
    { at: `${below}/locations/{location}${operation}`, summary: `${summary}, with a location`, description, parameter, moreParameters },
  ];
}

const NMT = /^projects\/[^/]+(?:\/locations\/[^/]+)?\/models\/general\/nmt$/;

const MODEL = {
  name: 'model',
  does: 'nothing',
  about: '`…/models/general/nmt`, the default.',
  example: 'projects/any/locations/global/models/general/nmt',
  judge: (value: unknown, named: string) =>
    typeof value === 'string' && NMT.test(value)
      ? undefined
      : invalid(`${named}: this service has no choice of models; leave it out, or send the default, general/nmt.`),
} as const;

const ABOUT_LABELS =
  "An object with at most one label. Its value, 1 to 100 printable ASCII characters without spaces, is the request's tag in usage reports.";

/** The label under which the request is counted; not counting spaces around it. */
function tagIn(value: unknown, named: string): Judged<NamedTag | undefined> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid(`${named}: must be an object.`);
  const labels: readonly unknown[] = Object.values(value);
  const [label, more] = labels;
  if (more !== undefined) return invalid(`${named}: may have at most one label.`);
  if (typeof label === 'string' && /^(?:|\s*[!-~]{1,100}\s*)$/.test(label)) return { text: label, field: 'labels' };
  return invalid(`${named}: a value must be 1 to 100 printable ASCII characters without spaces.`);
}

const LABELS = {
  name: 'labels',
  about: ABOUT_LABELS,
  schema: Type.Record(Type.String(), Type.String()),
  example: { customer: 'acme' },
} as const;

const CONTENTS_LIMIT = textsLimit('contents', 1024);
const AS_ENGINE = { does: 'refused', but: ['false'], about: 'Terms are matched as the engine does it.' } as const;

/** The texts come first, so that texts that are too long are reported before anything else. */
export const PARAMETERS_V3: readonly google.TranslationParameter[] = [
  {
    ...textsParameter(CONTENTS_LIMIT, 'Up to 1024 texts. An empty text among others stays empty.'),
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: CONTENTS_LIMIT.entriesMax }),
    example: ['Hello, world!'],
  },
  ...google.choiceParameters({
    target: 'targetLanguageCode',
    source: 'sourceLanguageCode',
    format: 'mimeType',
    text: 'text/plain',
    html: 'text/html',
  }),
  {
    name: 'glossaryConfig',
    means: 'glossaryId',
    about: 'A glossary of this service, with `sourceLanguageCode`; both lists of the answer then have the same translations.',
    fields: [
      { name: 'glossary', about: 'The id of the glossary, or a path that ends in it.' },
      { name: 'ignoreCase', ...AS_ENGINE },
      { name: 'contextualTranslationEnabled', ...AS_ENGINE },
    ],
    read: google.readGlossary,
  },
  MODEL,
  {
    name: 'transliterationConfig',
    does: 'refused',
    about: 'This service does not transliterate.',
    refusal: (named) => invalid(`${named}: this service does not transliterate; leave it out.`),
  },
  { ...LABELS, means: 'tag', read: tagIn },
];

const DETECTED = [{ translatedText: 'Hallo, Welt!', detectedLanguageCode: 'en' }, { translatedText: '' }];

const TRANSLATE = {
  routes: routesOf(
    'POST',
    ':translateText',
    'Translate texts',
    'Translates up to 1024 texts, all or none of them. Names that this API does not have are refused.',
  ),
  parameters: PARAMETERS_V3,
  body: {
    description: 'A JSON object.',
    example: { contents: ['Hello, world!'], sourceLanguageCode: 'en', targetLanguageCode: 'de', mimeType: 'text/plain' },
  },
  problems: [...TRANSLATION_PROBLEMS, 'glossary_not_found'],
  answer: shown(
    'All texts are translated, and charged.',
    {
      translations: 'One per text, in the order of the texts.',
      glossaryTranslations: 'The same, if a glossary was given.',
      translatedText: 'The translation.',
      detectedLanguageCode: 'If no source was given and the engine reports it.',
    },
    { translations: [{ translatedText: 'Hallo, Welt!' }] },
    {
      glossary: { summary: 'With a glossary, from an unknown language', value: { translations: DETECTED, glossaryTranslations: DETECTED } },
    },
  ),
};

const TYPES: readonly unknown[] = ['text/plain', 'text/html'];
const DETECTION_PARAMETERS: readonly google.DetectionParameter[] = [
  { ...textsParameter(textsLimit('content', 1), 'The text.'), schema: Type.String(), example: 'Bonjour tout le monde' },
  {
    name: 'mimeType',
    does: 'nothing',
    about: '`text/plain` or `text/html`.',
    example: 'text/plain',
    judge: (value, named) => (TYPES.includes(value) ? undefined : invalid(`${named}: must be ${TYPES.join(' or ')}.`)),
  },
  MODEL,
  { ...LABELS, does: 'nothing', judge: tagIn },
];

const DETECT = {
  routes: routesOf(
    'POST',
    ':detectLanguage',
    'Detect the language of a text',
    'Detects the language of a text from its beginning. It counts towards the request rate and costs nothing.',
  ),
  parameters: DETECTION_PARAMETERS,
  body: { description: 'A JSON object.', example: { content: 'Bonjour tout le monde' } },
  answer: shown(
    'The language.',
    {
      languages: 'One entry.',
      languageCode: 'The code; `und` if the engine cannot detect it.',
      confidence: '1, or 0 for `und`: engines report no confidence.',
    },
    { languages: [{ languageCode: 'fr', confidence: 1 }] },
  ),
};

const LANGUAGES = {
  routes: routesOf('GET', '/supportedLanguages', 'List languages', google.ABOUT_LANGUAGES),
  parameters: [google.localeParameter('displayLanguageCode'), MODEL],
  answer: shown(
    'The list.',
    {
      languageCode: 'The code.',
      displayName: 'With `displayLanguageCode`.',
      supportSource: 'Whether it can be a source.',
      supportTarget: 'Whether it can be a target.',
    },
    {
      languages: [
        { languageCode: 'de', displayName: 'German', supportSource: true, supportTarget: true },
        { languageCode: 'zh-TW', supportSource: false, supportTarget: true },
      ],
    },
  ),
};

/** There a reason is written in capital letters. */
const PROBLEM_FORM_V3 = problemForm(({ reason, domain }) => {
  const name = /[a-z]/.test(reason) ? reason.replaceAll(/[A-Z]/g, '_$&').toUpperCase() : reason;
  return { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: name, domain }] };
});

const DOCUMENT: ApiDocument = {
  title: 'Cloud Translation API v3',
  version: '3',
  summary: "Google's Cloud Translation API v3, with the keys, limits and charges of this service.",
  description:
    'For clients of version 3 (Advanced) of the API by REST: they only need this address and a key of this service. Projects and ' +
    "locations may have any name. The engine is the service's own. A wrong key is a 400 with the reason `API_KEY_INVALID`.",
  tags: { Translation: 'Translate texts.', Languages: 'Supported languages, and language detection.' },
  failure: failureSchema(PROBLEM_FORM_V3, 'Why, in one word: `API_KEY_INVALID`, `RATE_LIMIT_EXCEEDED`.'),
  keyField: 'X-Goog-Api-Key',
};

const NOT_HERE = refuse(
  'not_found',
  'This service has :translateText, :detectLanguage and /supportedLanguages of version 3 of the API; it has no documents, batches, models, datasets or romanization, and its glossaries are made by its own API.',
);

export default definePlugin({
  name: 'google-v3',
  options: Type.Object(
    { default_variants: DefaultVariants, key_in_query: google.KEY_IN_QUERY },
    { additionalProperties: false, default: {} },
  ),
  setup({ default_variants: variants, key_in_query: inQuery }, host) {
    const api = googleApi(variants, { inQuery, inBody: false }, CONTENTS_LIMIT, host);
    const parts = [
      api.key,
      google.translation(api, host, TRANSLATE, (all, hasGlossary) => {
        const translations = all.map(({ text, code }) => ({ translatedText: text, detectedLanguageCode: code }));
        return { translations, glossaryTranslations: hasGlossary ? translations : undefined };
      }),
      google.detection(api, host, DETECT, (all) => ({
        languages: all.map(({ code, confidence }) => ({ languageCode: code, confidence })),
      })),
      google.languageList(api, host, LANGUAGES, (all) => ({
        languages: all.map(({ theirs, name, isSource, isTarget }) => {
          return { languageCode: theirs, displayName: name, supportSource: isSource, supportTarget: isTarget };
        }),
      })),
      absent('google-not-offered', NOT_HERE, ['access-log'], ['* /v3/projects/*', '* /v3beta1/projects/*']),
    ];
    return apiOf(parts, DOCUMENT, PROBLEM_FORM_V3);
  },
});
