// The plugin `lingate/plugins/deepl-v2`: DeepL's API with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { languages } from './deepl-v2/deepl-languages.ts';
import { DeepLOptions } from './deepl-v2/deepl-options.ts';
import { PROBLEM_FORM } from './deepl-v2/deepl-problem-form.ts';
import { translate } from './deepl-v2/deepl-translate.ts';
import { usage } from './deepl-v2/deepl-usage.ts';
import { glossariesV2 } from './deepl-v2/glossaries-v2.ts';
import { glossariesV3 } from './deepl-v2/glossaries-v3.ts';
import { AUTHENTICATED, TRACE_ID } from './deepl-v2/read-body.ts';
import type { ApiPart, PartSetup } from './facades/api-part.ts';

/** What the API is made of: each has its routes and the steps that they name. */
const PARTS: readonly ((setup: PartSetup<DeepLOptions>) => ApiPart)[] = [
  translate,
  languages,
  usage,
  glossariesV2,
  glossariesV3,
  notOffered,
];

export default definePlugin({
  name: 'deepl-v2',
  options: DeepLOptions,
  setup(options, host) {
    const parts = PARTS.map((part) => part({ options, host }));
    return {
      routes: parts.flatMap(({ routes }) => routes),
      document: DOCUMENT,
      routeSteps: (services) => parts.flatMap(({ steps }) => steps(services)),
    };
  },
});

/** A problem document, and `message`, which clients show before `detail`. */
const Failure = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'Where the code is explained.' }),
    title: Type.String({ description: 'The code in words.' }),
    status: Type.Integer({ description: 'The status of the answer.' }),
    code: Type.String({ description: 'Never changes its meaning.' }),
    detail: Type.String({ description: 'For people; may change at any time.' }),
    message: Type.String({ description: 'The code in words, as clients show it before `detail`.' }),
    request_id: Type.String({ description: 'The same as the X-Request-Id field.' }),
  },
  { additionalProperties: true, title: 'Failure', description: 'What went wrong (RFC 9457). Members beyond these depend on `code`.' },
);

const DOCUMENT: ApiDocument = {
  title: 'the DeepL API',
  version: '2',
  summary: "DeepL's API over this service's keys, limits and books.",
  description:
    "For programs that speak DeepL's API: its address and a key of this service are all they need. The engine is the service's own. " +
    'Statuses are those of that API: 403 for keys, 456 for a quota or credit that is used up, 413 for what is too large.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'What can be translated, and into what.',
    Glossaries: 'Terms with fixed translations.',
    Usage: 'What has been used, and what is left.',
  },
  failure: Failure,
  headers: { 'X-Trace-ID': { description: 'The same as X-Request-Id.', example: '01JD4X9Q2T8K6Z3W7V5N1M0RBC' } },
};

/** Where what that API has besides begins: a wrong key is told so there, too. */
const PATHS: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/v2/document'],
  ['POST', '/v2/write/rephrase'],
  ['GET', '/v3/style_rules'],
  ['POST', '/v3/style_rules'],
  ['GET', '/v3/translation_memories'],
];
/** Whatever else there may be. */
const BELOW = ['/v2/*', '/v3/*'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const NOT_HERE = refuse(
  'not_found',
  'This service translates texts, with glossaries; it has no documents, rephrasing, style rules or translation memories.',
);

function notOffered(): ApiPart {
  const form = { takesBody: false, problemForm: PROBLEM_FORM, undocumented: true } as const;
  return {
    routes: [
      ...PATHS.map(([method, path]) => ({ method, path, ...form, steps: [...AUTHENTICATED, 'admit', 'deepl-not-offered'] })),
      ...BELOW.flatMap((path) =>
        METHODS.map((method) => ({ method, path, ...form, steps: ['access-log', 'deepl-trace-id', 'deepl-no-endpoint'] })),
      ),
    ],
    steps: () => [
      TRACE_ID,
      { kind: 'body', name: 'deepl-not-offered', run: () => NOT_HERE },
      { kind: 'head', name: 'deepl-no-endpoint', run: () => NOT_HERE },
    ],
  };
}
