// The plugin `lingate/plugins/google-v3`: Google's Cloud Translation API v3 with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { absent, apiOf } from './facades/api.ts';
import type { ApiPart } from './facades/api.ts';
import { DefaultVariants } from './facades/default-variants.ts';
import { integer, string } from './facades/reference.ts';
import { googleSetting, keySteps, PROBLEM_FORM_V3 } from './google-v2/google-request.ts';
import { detectionV3 } from './google-v3/v3-detection.ts';
import { languageListV3 } from './google-v3/v3-languages.ts';
import { CONTENTS_LIMIT, translationV3 } from './google-v3/v3-translation.ts';

const GoogleV3Options = Type.Object(
  {
    default_variants: DefaultVariants,
    key_in_query: Type.Boolean({
      default: false,
      description: 'Whether to accept a key in `?key=` if no header has one. Lingate never logs it, but proxies may.',
    }),
  },
  { additionalProperties: false, default: {} },
);

const Failure = Type.Object(
  {
    error: Type.Object({
      code: integer('The status of the answer.'),
      message: string('For people; may change at any time.'),
      status: string('The name of the status: `INVALID_ARGUMENT`, `RESOURCE_EXHAUSTED`.'),
      details: Type.Array(
        Type.Object({
          '@type': string('`type.googleapis.com/google.rpc.ErrorInfo`.'),
          reason: string('Why, in one word: `API_KEY_INVALID`, `RATE_LIMIT_EXCEEDED`.'),
          domain: string('`global`, or `usageLimits` for rate and quota.'),
        }),
        { description: 'One entry.' },
      ),
    }),
  },
  { description: 'A failure.' },
);

const DOCUMENT: ApiDocument = {
  title: 'Cloud Translation API v3',
  version: '3',
  summary: "Google's Cloud Translation API v3, with the keys, limits and charges of this service.",
  description:
    'For clients of version 3 (Advanced) of the API by REST: they only need this address and a key of this service. Projects and ' +
    "locations may have any name. The engine is the service's own. A wrong key is a 400 with the reason `API_KEY_INVALID`.",
  tags: { Translation: 'Translate texts.', Languages: 'Supported languages, and language detection.' },
  failure: Failure,
  keyField: 'X-Goog-Api-Key',
};

const NOT_HERE = refuse(
  'not_found',
  'This service has :translateText, :detectLanguage and /supportedLanguages of version 3 of the API; it has no documents, batches, models, datasets or romanization, and its glossaries are made by its own API.',
);
/** The rest of that API. */
const BELOW = ['/v3/projects/*', '/v3beta1/projects/*'] as const;

export default definePlugin({
  name: 'google-v3',
  options: GoogleV3Options,
  setup({ default_variants: variants, key_in_query: inQuery }, host) {
    const setting = googleSetting(variants, { inQuery, inBody: false }, CONTENTS_LIMIT, host);
    const key: ApiPart = { routes: [], steps: (services) => keySteps(setting, services) };
    const parts = [key, translationV3(host, setting), detectionV3(host, setting), languageListV3(host, setting)];
    return apiOf([...parts, absent('google-not-offered', NOT_HERE, ['access-log'], BELOW)], DOCUMENT, PROBLEM_FORM_V3);
  },
});
