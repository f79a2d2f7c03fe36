// The plugin `lingate/plugins/libretranslate`: LibreTranslate's API with the same keys, charges.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { DefaultVariants } from './facades/codes.ts';
import { absent, apiOf } from './facades/operation.ts';
import { string } from './facades/reference.ts';
import { readableByBrowsers } from './libretranslate/browser-access.ts';
import { files } from './libretranslate/files.ts';
import { languageList, settings, specification } from './libretranslate/language-list.ts';
import { libreTranslateApi, PROBLEM_FORM } from './libretranslate/libretranslate-api.ts';
import { detection, translation } from './libretranslate/translation.ts';

const LibreTranslateOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    api_key_in_body: Type.Boolean({
      default: true,
      description: "Whether to accept a key in the body's `api_key` if no header has one, as clients send it.",
    }),
    api_key_in_query: Type.Boolean({
      default: false,
      description: 'Whether to accept a key in `?api_key=` if no header has one. Lingate never logs it, but proxies may.',
    }),
    file_wait_seconds: Type.Integer({
      minimum: 1,
      maximum: 3600,
      default: 120,
      description: 'How long `/translate_file` waits for the translation, which is given up after it.',
    }),
    cors: Type.Boolean({
      default: true,
      description: 'Whether web pages and extensions of any origin may read the answers, as at LibreTranslate.',
    }),
  },
  { additionalProperties: false, default: {} },
);

const Failure = Type.Object({ error: string('What went wrong, for people.') }, { description: 'A failure.' });

const DOCUMENT: ApiDocument = {
  title: 'LibreTranslate API',
  version: '1',
  summary: "LibreTranslate's API, with the keys, limits and charges of this service.",
  description:
    'For clients of LibreTranslate and, in another format, of DeepLX. Failures are an object with `error`; nothing is charged for them. ' +
    'A key in a header takes precedence over one in the body; a key in the query is only accepted if the operator allows it.',
  tags: {
    Translation: 'Translate texts.',
    Files: 'Translate files.',
    Languages: 'Supported languages, and language detection.',
    'Front ends': 'For web pages and browsers.',
  },
  failure: Failure,
};

const NOT_HERE = refuse(
  'not_found',
  'Not found: this service translates texts and files and detects languages; it has no suggestions or web page',
);
/** The other paths of that API. */
const OTHERS = ['* /suggest', '* /frontend/*', '* /javascript-licenses'];

export default definePlugin({
  name: 'libretranslate',
  options: LibreTranslateOptions,
  setup({ default_variants: variants, api_key_in_body: inBody, api_key_in_query: inQuery, file_wait_seconds: waitSeconds, cors }, host) {
    const libreTranslate = libreTranslateApi(variants, { inBody, inQuery }, host);
    const parts = [
      libreTranslate.key,
      translation(libreTranslate, host),
      detection(libreTranslate, host),
      languageList(variants),
      settings(variants),
      files(host, variants, waitSeconds),
      specification(),
      absent('libretranslate-not-offered', NOT_HERE, ['access-log'], OTHERS),
    ];
    const api = apiOf(parts, DOCUMENT, PROBLEM_FORM);
    return cors ? readableByBrowsers(api) : api;
  },
});
