// The plugin `lingate/plugins/deepl-v2`: DeepL's API with the same keys, limits and charges.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument } from 'lingate';
import Type from 'typebox';
import { languages, resourceLanguages } from './deepl-v2/deepl-languages.ts';
import { AUTHENTICATED, PROBLEM_FORM, tagStep } from './deepl-v2/deepl-request.ts';
import { ATTEMPT_MS, translate } from './deepl-v2/deepl-translate.ts';
import { documents } from './deepl-v2/deepl-documents.ts';
import { glossaries } from './deepl-v2/glossary-routes.ts';
import { customTags, usage } from './deepl-v2/deepl-usage.ts';
import { DefaultVariants } from './facades/codes.ts';
import { absent, apiOf, idStep } from './facades/operation.ts';
import { integer, string } from './facades/reference.ts';

const DeepLOptions = Type.Object(
  {
    attempt_timeout_ms: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: `The timeout of each of the two attempts, if less than \`engine.timeout_ms\`. ${ATTEMPT_MS} by default: the SDKs give up after 5 s (Node) or 10 s (Python).`,
      }),
    ),
    default_variants: DefaultVariants,
    style_rules: Type.Enum(['refuse', 'pass'], {
      default: 'refuse',
      description:
        '`pass`: `style_id`, `translation_memory_id`, `translation_memory_threshold` and `custom_instructions` go to engines that take them. Otherwise, and for other engines, they are refused by name.',
    }),
    markup: Type.Enum(['counted', 'free'], {
      default: 'counted',
      description: '`free`: with `tag_handling`, only what stands outside of tags is charged.',
    }),
  },
  { additionalProperties: false, default: {} },
);

/** A problem document with the additional member `message`, which clients show before `detail`. */
const Failure = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'The explanation of the code.' }),
    title: string('The code in words.'),
    status: integer('The status of the answer.'),
    code: string('Its meaning never changes.'),
    detail: string('For people; may change at any time.'),
    message: string('The code in words; clients show it before `detail`.'),
    request_id: string('The same as the X-Request-Id header.'),
  },
  { additionalProperties: true, title: 'Failure', description: 'What went wrong (RFC 9457). Members beyond these depend on `code`.' },
);

const DOCUMENT: ApiDocument = {
  title: 'the DeepL API',
  version: '2',
  summary: "DeepL's API, with the keys, limits and charges of this service.",
  description:
    "For clients of DeepL's API: they only need this address and a key of this service. The engine is the service's own. " +
    "Statuses are DeepL's: 403 for keys, 456 for a quota or credit that is used up, 413 for a request that is too large.",
  tags: {
    Translation: 'Translate texts.',
    Documents: 'Translate files.',
    Languages: 'Supported languages.',
    Glossaries: 'Terms with fixed translations.',
    Usage: 'What has been used, and what is left.',
  },
  failure: Failure,
  headers: { 'X-Trace-ID': { description: 'The same as X-Request-Id.', example: '01JD4X9Q2T8K6Z3W7V5N1M0RBC' } },
};

const NOT_HERE = refuse(
  'not_found',
  'This service translates texts and documents, with glossaries; it has no rephrasing, style rules or translation memories.',
);
/** The prefixes of that API's other paths. */
const OTHERS = ['POST /v2/write/rephrase', 'GET /v3/style_rules', 'POST /v3/style_rules', 'GET /v3/translation_memories'];
/** All other paths. */
const BELOW = ['* /v2/*', '* /v3/*'];
/** Clients look for `message` in every 404, also with another version in their address. */
const BELOW_OURS = ['* /v1/*'];
const NO_ENDPOINT = refuse('not_found', 'No endpoint has this path. Paths are case-sensitive and take no trailing slash.');

export default definePlugin({
  name: 'deepl-v2',
  options: DeepLOptions,
  setup({ attempt_timeout_ms: attemptMs, default_variants: variants, style_rules: style, markup }, host) {
    const api = { name: 'deepl', before: AUTHENTICATED, variants };
    const parts = [
      { routes: [], steps: () => [idStep('deepl-trace-id', 'X-Trace-ID'), tagStep()] },
      translate(api, host, { attemptMs, passesStyle: style === 'pass', isMarkupFree: markup === 'free' }),
      languages(api, host),
      ...resourceLanguages(api, host, style === 'pass'),
      usage(api),
      customTags(api),
      ...glossaries(api, host),
      documents(variants),
      absent('deepl-not-offered', NOT_HERE, [...AUTHENTICATED, 'admit'], OTHERS),
      absent('deepl-no-endpoint', NOT_HERE, ['access-log', 'deepl-trace-id'], BELOW),
      absent('deepl-no-endpoint-of-ours', NO_ENDPOINT, ['access-log', 'deepl-trace-id'], BELOW_OURS),
    ];
    return apiOf(parts, DOCUMENT, PROBLEM_FORM);
  },
});
