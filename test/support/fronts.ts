// The translation APIs that callers can use: how to call each, and the status it returns for each refusal that all of them share.
import type { ProblemCode } from '../../src/core/problem.ts';

/** Why a translation can be refused, on any front. */
export type RefusalCode = Extract<
  ProblemCode,
  | 'validation_error'
  | 'invalid_target_lang'
  | 'too_many_texts'
  | 'text_too_long'
  | 'unauthorized'
  | 'key_revoked'
  | 'forbidden'
  | 'quota_exceeded'
  | 'credit_exhausted'
  | 'rate_limited'
  | 'engine_unavailable'
  | 'service_unavailable'
>;

export interface FrontRequest {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Front {
  readonly name: string;
  /** A translation from English; into German by default. */
  translation(key: string, text: readonly string[], target?: string): FrontRequest;
  /** The texts of a successful answer. */
  texts(body: string): readonly string[];
  readonly statuses: Readonly<Record<RefusalCode, number>>;
  /** Reads the request id of an answer. */
  readonly textsMax: number;
  /** The same texts in the other body type that the front accepts, if there is one; with a key in a field. */
  otherBody?(text: readonly string[]): Pick<FrontRequest, 'body'> & { readonly contentType: string };
}

/** The engine options that the facades need, named as in the configuration. */
export const FACADES = [
  // Long, because the front's own deadline is not tested here.
  { module: 'lingate/plugins/deepl-v2', options: { attempt_timeout_ms: 60_000 } },
  { module: 'lingate/plugins/libretranslate' },
  // All other paths belong to LibreTranslate.
  { module: 'lingate/plugins/azure-v3', options: { root: false } },
  // Where this front's clients send the key.
  { module: 'lingate/plugins/google-v2', options: { key_in_query: true } },
  { module: 'lingate/plugins/google-v3' },
];

const OURS = {
  validation_error: 400,
  invalid_target_lang: 400,
  too_many_texts: 400,
  text_too_long: 400,
  unauthorized: 401,
  key_revoked: 401,
  forbidden: 403,
  quota_exceeded: 402,
  credit_exhausted: 402,
  rate_limited: 429,
  engine_unavailable: 503,
  service_unavailable: 503,
} as const satisfies Front['statuses'];

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };
const formOf = (name: string, text: readonly string[], ...fields: readonly string[]): string =>
  [...text.map((one) => `${name}=${encodeURIComponent(one)}`), ...fields].join('&');

interface Translations {
  readonly translations: readonly { readonly text: string }[];
}
const translationsOf = (body: string) => (JSON.parse(body) as Translations).translations.map(({ text }) => text);

export const V1: Front = {
  name: '/v1',
  translation: (key, text, target = 'DE') => ({
    method: 'POST',
    path: '/v1/translate',
    headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
    body: JSON.stringify({ text, source_lang: 'EN', target_lang: target }),
  }),
  texts: translationsOf,
  statuses: OURS,
  textsMax: 50,
};

export const DEEPL: Front = {
  name: "DeepL's /v2, as a form",
  translation: (key, text, target = 'DE') => ({
    method: 'POST',
    path: '/v2/translate',
    headers: { ...FORM_TYPE, authorization: `DeepL-Auth-Key ${key}` },
    body: formOf('text', text, 'source_lang=EN', `target_lang=${target}`),
  }),
  texts: translationsOf,
  statuses: {
    ...OURS,
    too_many_texts: 413,
    text_too_long: 413,
    unauthorized: 403,
    key_revoked: 403,
    quota_exceeded: 456,
    credit_exhausted: 456,
  },
  textsMax: 50,
  otherBody: (text) => ({ contentType: JSON_TYPE['content-type'], body: JSON.stringify({ text, target_lang: 'DE' }) }),
};

export const LIBRETRANSLATE: Front = {
  name: "LibreTranslate's, with the key in the body",
  translation: (key, text, target = 'de') => ({
    method: 'POST',
    path: '/translate',
    headers: JSON_TYPE,
    body: JSON.stringify({ q: text, source: 'en', target, api_key: key }),
  }),
  texts: (body) => (JSON.parse(body) as { translatedText: readonly string[] }).translatedText,
  statuses: { ...OURS, unauthorized: 403, key_revoked: 403, quota_exceeded: 403, credit_exhausted: 403, engine_unavailable: 500 },
  textsMax: 1000,
  otherBody: (text) => ({ contentType: FORM_TYPE['content-type'], body: formOf('q', text, 'source=en', 'target=de') }),
};

interface AzureTranslations {
  readonly translations: readonly { readonly text: string }[];
}

export const AZURE: Front = {
  name: "Azure's, below /translator",
  translation: (key, text, target = 'de') => ({
    method: 'POST',
    path: `/translator/text/v3.0/translate?api-version=3.0&from=en&to=${target}`,
    headers: { ...JSON_TYPE, 'ocp-apim-subscription-key': key },
    body: JSON.stringify(text.map((Text) => ({ Text }))),
  }),
  texts: (body) => (JSON.parse(body) as readonly AzureTranslations[]).map(({ translations }) => translations[0]!.text),
  statuses: { ...OURS, quota_exceeded: 403, credit_exhausted: 403 },
  textsMax: 50,
};

interface GoogleTranslations {
  readonly data: { readonly translations: readonly { readonly translatedText: string }[] };
}

export const GOOGLE: Front = {
  name: "Google's v2, with the key in the query",
  translation: (key, text, target = 'de') => ({
    method: 'POST',
    path: `/language/translate/v2?key=${key}`,
    headers: JSON_TYPE,
    body: JSON.stringify({ q: text, source: 'en', target, format: 'text' }),
  }),
  texts: (body) => (JSON.parse(body) as GoogleTranslations).data.translations.map(({ translatedText }) => translatedText),
  statuses: { ...OURS, unauthorized: 400, key_revoked: 400, quota_exceeded: 403, credit_exhausted: 403 },
  textsMax: 128,
  otherBody: (text) => ({ contentType: FORM_TYPE['content-type'], body: formOf('q', text, 'target=de') }),
};

const GOOGLE_3: Front = {
  name: "Google's v3",
  translation: (key, text, target = 'de') => ({
    method: 'POST',
    path: '/v3/projects/any:translateText',
    headers: { ...JSON_TYPE, 'x-goog-api-key': key },
    body: JSON.stringify({ contents: text, sourceLanguageCode: 'en', targetLanguageCode: target, mimeType: 'text/plain' }),
  }),
  texts: (body) =>
    (JSON.parse(body) as { translations: readonly { translatedText: string }[] }).translations.map(({ translatedText }) => translatedText),
  statuses: GOOGLE.statuses,
  textsMax: 1024,
};

export const FRONTS: readonly Front[] = [V1, DEEPL, LIBRETRANSLATE, AZURE, GOOGLE, GOOGLE_3];
