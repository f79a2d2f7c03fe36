// The plugin `lingate/plugins/azure-v3`: Azure Translator's API with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import type { ApiDocument, PluginRoute } from 'lingate';
import { detection } from './azure-v3/azure-detect.ts';
import { languageList } from './azure-v3/azure-languages.ts';
import { AzureOptions } from './azure-v3/azure-options.ts';
import { Failure, KEY_FIELD, PROBLEM_FORM } from './azure-v3/azure-problem-form.ts';
import { AUTHENTICATED, LOGGED, sharedSteps } from './azure-v3/azure-steps.ts';
import { translate } from './azure-v3/azure-translate.ts';
import type { ApiPart, PartSetup } from './facades/api-part.ts';

/** What the API is made of: each has its routes, as at Azure's global address, and the steps that they name. */
const PARTS: readonly ((setup: PartSetup<AzureOptions>) => ApiPart)[] = [translate, detection, languageList, notOffered];

/** Where an address of a customer's own has the same routes. */
const BELOW = '/translator/text/v3.0';
/** What is left of what lies there, such as documents. */
const BESIDE = '/translator/*';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export default definePlugin({
  name: 'azure-v3',
  options: AzureOptions,
  setup(options, host) {
    const parts = PARTS.map((part) => part({ options, host }));
    const routes = parts.flatMap((part) => part.routes);
    const below = routes.map((route) => ({ ...route, path: BELOW + route.path }));
    return {
      routes: [...(options.root ? [...routes.map(atRoot), ...below.map(undocumented)] : below), ...METHODS.map(noEndpoint)],
      document: DOCUMENT,
      routeSteps: (services) => [
        ...sharedSteps(services),
        ...parts.flatMap(({ steps }) => steps(services)),
        { kind: 'head', name: 'azure-no-endpoint', run: () => NOT_HERE },
      ],
    };
  },
});

function atRoot(route: PluginRoute): PluginRoute {
  return { ...route, whenTaken: 'root: false' };
}

/** The same stand in the document already. */
function undocumented({ doc, ...route }: PluginRoute): PluginRoute {
  void doc;
  return { ...route, undocumented: true };
}

function noEndpoint(method: string): PluginRoute {
  const steps = [...LOGGED, 'azure-no-endpoint'];
  return { method, path: BESIDE, takesBody: false, steps, problemForm: PROBLEM_FORM, undocumented: true };
}

/** What that API has besides: a wrong key is told so there, too. */
const OTHERS = ['/breaksentence', '/transliterate', '/dictionary/lookup', '/dictionary/examples'] as const;
const NOT_HERE = refuse(
  'not_found',
  'This service translates texts and detects languages; it has no dictionaries, transliteration, sentence boundaries or documents.',
);

function notOffered(): ApiPart {
  const form = { method: 'POST', takesBody: false, problemForm: PROBLEM_FORM, undocumented: true } as const;
  return {
    routes: OTHERS.map((path) => ({ ...form, path, steps: [...AUTHENTICATED, 'admit', 'azure-not-offered'] })),
    steps: () => [{ kind: 'body', name: 'azure-not-offered', run: () => NOT_HERE }],
  };
}

const DOCUMENT: ApiDocument = {
  title: 'Translator API',
  version: '3.0',
  summary: "Azure Translator's API, over the keys, limits and books of this service.",
  description:
    "For programs that speak version 3.0 of Azure Translator's API: its address and a key of this service are all they need. The engine is the service's own. " +
    'The same paths are there below `/translator/text/v3.0`. Failures are an object `error` with a number and a message; nothing is charged for them.',
  tags: { Translation: 'Translate texts.', Languages: 'What can be translated, and what a text is in.' },
  failure: Failure,
  headers: { 'X-RequestId': { description: 'The same as X-Request-Id.', example: '01JD4X9Q2T8K6Z3W7V5N1M0RBC' } },
  keyField: KEY_FIELD,
};
