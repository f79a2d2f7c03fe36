// The plugin `lingate/plugins/google-v2`: Google's Cloud Translation API v2 with the same keys, limits and charges, for existing clients.
import { definePlugin, refuse } from 'lingate';
import Type from 'typebox';
import { absent, apiOf } from './facades/api.ts';
import { DefaultVariants } from './facades/default-variants.ts';
import { detection } from './google-v2/google-detection.ts';
import { DOCUMENT, PROBLEM_FORM } from './google-v2/google-errors.ts';
import { languages } from './google-v2/google-languages.ts';
import { keyStep } from './google-v2/google-request.ts';
import { translation } from './google-v2/google-translation.ts';

const GoogleOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    key_in_query: Type.Boolean({
      default: false,
      description:
        'Whether to accept a key in `?key=` if no header has one, as most clients of that API send it. Lingate never logs it, but proxies may.',
    }),
  },
  { additionalProperties: false, default: {} },
);

const NOT_HERE = refuse(
  'not_found',
  'This service has version 2 of the API: /language/translate/v2 with /detect and /languages; it has no documents, batches, glossaries or models of version 3.',
);
/** The rest of that API: version 3 with documents, batches, glossaries and models. */
const BELOW = ['/language/translate/*', '/v3/projects/*', '/v3beta1/projects/*'] as const;

export default definePlugin({
  name: 'google-v2',
  options: GoogleOptions,
  setup({ default_variants: variants, key_in_query: inQuery }, host) {
    const key = { routes: [], steps: (services: Parameters<typeof keyStep>[0]) => [keyStep(services, inQuery)] };
    const parts = [key, translation(host, variants), detection(host), languages(host, variants)];
    return apiOf([...parts, absent('google-not-offered', NOT_HERE, ['access-log'], BELOW)], DOCUMENT, PROBLEM_FORM);
  },
});
