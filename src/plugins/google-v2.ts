// The plugin `lingate/plugins/google-v2`: Google's Cloud Translation API v2 with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { absent, apiOf } from './facades/api.ts';
import type { ApiPart } from './facades/api.ts';
import { DefaultVariants } from './facades/default-variants.ts';
import { integer, string } from './facades/reference.ts';
import { detection } from './google-v2/google-detection.ts';
import { languageList } from './google-v2/google-languages.ts';
import { googleSetting, keySteps, PROBLEM_FORM, Q_LIMIT } from './google-v2/google-request.ts';
import { translation } from './google-v2/google-translation.ts';

const GoogleOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    key_in_query: Type.Boolean({
      default: false,
      description:
        'Whether to accept a key in `?key=` if no header has one, as most clients of that API send it. Lingate never logs it, but proxies may.',
    }),
    key_in_body: Type.Boolean({
      default: false,
      description: 'Whether to accept a key as `key` in a form or JSON body if neither a header nor the query has one.',
    }),
  },
  { additionalProperties: false, default: {} },
);

const message = string('For people; may change at any time.');

const Failure = Type.Object(
  {
    error: Type.Object({
      code: integer('The status of the answer.'),
      message,
      errors: Type.Array(
        Type.Object({
          message,
          domain: string('`global`, or `usageLimits` for rate and quota.'),
          reason: string('Why, in one word: `API_KEY_INVALID`, `rateLimitExceeded`.'),
        }),
        { description: 'One entry.' },
      ),
      status: string('The name of the status: `INVALID_ARGUMENT`, `RESOURCE_EXHAUSTED`.'),
    }),
  },
  { description: 'A failure.' },
);

const DOCUMENT: ApiDocument = {
  title: 'Cloud Translation API v2',
  version: '2',
  summary: "Google's Cloud Translation API v2, with the keys, limits and charges of this service.",
  description:
    'For clients of version 2 (Basic) of the API: they only need this address and a key of this service. The engine is the ' +
    "service's own. If the operator allows it, a key is also accepted as `key` in the query; a wrong key is a 400 " +
    'with the reason `API_KEY_INVALID`. A quota or credit that is used up is a 403 with the reason `dailyLimitExceeded`.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'Supported languages, and language detection.',
  },
  failure: Failure,
  keyField: 'X-Goog-Api-Key',
};

const NOT_HERE = refuse(
  'not_found',
  'This is version 2 of the API: /language/translate/v2 with /detect and /languages. Version 3 is another plugin of this service.',
);
const BELOW = ['/language/translate/*'] as const;

export default definePlugin({
  name: 'google-v2',
  options: GoogleOptions,
  setup({ default_variants: variants, key_in_query: inQuery, key_in_body: inBody }, host) {
    const setting = googleSetting(variants, { inQuery, inBody }, Q_LIMIT, host);
    const key: ApiPart = { routes: [], steps: (services) => keySteps(setting, services) };
    const parts = [key, translation(host, setting), detection(host, setting), languageList(host, setting)];
    return apiOf([...parts, absent('google-not-offered', NOT_HERE, ['access-log'], BELOW)], DOCUMENT, PROBLEM_FORM);
  },
});
