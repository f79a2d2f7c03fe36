// The plugin `lingate/plugins/azure-v3`: Azure Translator's API with the same keys and charges.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument, PluginRoute } from 'lingate';
import Type from 'typebox';
import { languageList } from './azure-v3/azure-languages.ts';
import { AUTHENTICATED, KEY_FIELD, LOGGED, PROBLEM_FORM, sharedSteps, VERSIONS } from './azure-v3/azure-api.ts';
import { detection, translation } from './azure-v3/azure-operations.ts';
import { defaultVariants } from './facades/codes.ts';
import { absent, apiOf } from './facades/operation.ts';
import type { ApiPart } from './facades/operation.ts';
import { string } from './facades/reference.ts';

const AzureOptions = Type.Object(
  {
    // At Azure, `pt` is Brazilian Portuguese; European is `pt-pt`.
    default_variants: defaultVariants('EN-GB', 'PT-BR'),
    root: Type.Boolean({
      default: true,
      description:
        'Whether to serve `/translate`, `/detect` and `/languages` too, and not only the same below `/translator/text/v3.0`. The LibreTranslate plugin has the same paths.',
    }),
  },
  { additionalProperties: false, default: {} },
);

const NOT_HERE = refuse(
  'not_found',
  'This service translates texts and detects languages; it has no dictionaries, transliteration, sentence boundaries or documents.',
);
const OTHERS = ['/breaksentence', '/transliterate', '/dictionary/lookup', '/dictionary/examples'].map((path) => `POST ${path}`);
/** The path of the same routes at Azure's custom endpoints. */
const BELOW = '/translator/text/v3.0';
/** Other paths of that API, such as documents. */
const BESIDE = '* /translator/*';

const Failure = Type.Object(
  {
    error: Type.Object({
      code: Type.Union([Type.Integer(), Type.String()], { description: 'The status, followed by three digits for the failure.' }),
      message: string('What went wrong, for people.'),
    }),
  },
  { description: 'A failure.' },
);

const DOCUMENT: ApiDocument = {
  title: 'Translator API',
  version: VERSIONS.at(-1)!,
  summary: "Azure Translator's API, with the keys, limits and charges of this service.",
  description:
    `For clients of Azure Translator's API, versions ${VERSIONS.join(' and ')}: they only need this address and a key of this service. The engine is the service's own. ` +
    'The same paths are also served below `/translator/text/v3.0`. Failures are an object `error` with a number, in newer versions as a string, and a message; nothing is charged for them.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'Supported languages, and language detection.',
  },
  failure: Failure,
  headers: { 'X-RequestId': { description: 'The same as X-Request-Id.', example: '01JD4X9Q2T8K6Z3W7V5N1M0RBC' } },
  keyField: KEY_FIELD,
};

export default definePlugin({
  name: 'azure-v3',
  options: AzureOptions,
  setup({ default_variants: variants, root }, host) {
    // Like Azure's global address.
    const api = { name: 'azure', before: AUTHENTICATED, variants };
    const parts = [
      translation(api, host),
      detection(api, host),
      languageList(variants),
      absent('azure-not-offered', NOT_HERE, [...AUTHENTICATED, 'admit'], OTHERS),
    ];
    const routes = parts.flatMap((part) => part.routes);
    const below = routes.map((one) => ({ ...one, path: BELOW + one.path }));
    const placed: ApiPart = {
      routes: root ? [...routes.map(atRoot), ...below.map(undocumented)] : below,
      steps: sharedSteps,
    };
    const made = parts.map((part) => ({ ...part, routes: [] }));
    return apiOf([placed, ...made, absent('azure-no-endpoint', NOT_HERE, LOGGED, [BESIDE])], DOCUMENT, PROBLEM_FORM, 'letters');
  },
});

function atRoot(one: PluginRoute): PluginRoute {
  return { ...one, whenTaken: 'root: false' };
}

/** The document has these already. */
function undocumented({ doc, ...one }: PluginRoute): PluginRoute {
  void doc;
  return { ...one, undocumented: true };
}
