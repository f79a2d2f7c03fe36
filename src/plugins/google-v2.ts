// The plugin `lingate/plugins/google-v2`: Google's Cloud Translation API v2 with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import type { ApiPart, PartSetup } from './facades/api-part.ts';
import { keyStep } from './google-v2/google-caller.ts';
import { detection } from './google-v2/google-detection.ts';
import { DOCUMENT, PROBLEM_FORM } from './google-v2/google-errors.ts';
import { languages } from './google-v2/google-languages.ts';
import { GoogleOptions } from './google-v2/google-options.ts';
import { translation } from './google-v2/google-translation.ts';

/** What the API is made of: each has its routes and the steps that they name. */
const PARTS: readonly ((setup: PartSetup<GoogleOptions>) => ApiPart)[] = [translation, detection, languages, notOffered];

export default definePlugin({
  name: 'google-v2',
  options: GoogleOptions,
  setup(options, host) {
    const parts = PARTS.map((part) => part({ options, host }));
    return {
      routes: parts.flatMap(({ routes }) => routes),
      document: DOCUMENT,
      routeSteps: (services) => [keyStep(services, options.key_in_query), ...parts.flatMap(({ steps }) => steps(services))],
    };
  },
});

/** Where all else of that API is: its version 3 with documents, batches, glossaries and models. */
const BELOW = ['/language/translate/*', '/v3/projects/*', '/v3beta1/projects/*'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const NOT_HERE = refuse(
  'not_found',
  'This service has version 2 of the API: /language/translate/v2 with /detect and /languages; it has no documents, batches, glossaries or models of version 3.',
);

function notOffered(): ApiPart {
  const form = { takesBody: false, problemForm: PROBLEM_FORM, undocumented: true } as const;
  return {
    routes: BELOW.flatMap((path) => METHODS.map((method) => ({ method, path, ...form, steps: ['access-log', 'google-not-offered'] }))),
    steps: () => [{ kind: 'head', name: 'google-not-offered', run: () => NOT_HERE }],
  };
}
