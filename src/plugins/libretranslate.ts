// The plugin `lingate/plugins/libretranslate`: LibreTranslate's API with the same keys, limits and charges, for existing clients.
import { definePlugin } from 'lingate';
import Type from 'typebox';
import { apiOf } from './facades/api.ts';
import { DefaultVariants } from './facades/default-variants.ts';
import { BrowserAccess } from './libretranslate/browser-access.ts';
import { detection } from './libretranslate/detection.ts';
import { languageList } from './libretranslate/language-list.ts';
import { DOCUMENT, PROBLEM_FORM } from './libretranslate/libretranslate-document.ts';
import type { ReadSlot } from './libretranslate/libretranslate-request.ts';
import { settings } from './libretranslate/settings.ts';
import { translation } from './libretranslate/translation.ts';

const LibreTranslateOptions = Type.Object(
  {
    default_variants: DefaultVariants,
    api_key_in_body: Type.Boolean({
      default: true,
      description: "Whether to accept a key in the body's `api_key` if no header has one, as clients send it.",
    }),
    cors: Type.Boolean({
      default: true,
      description: 'Whether web pages and extensions of any origin may read the answers, as at LibreTranslate.',
    }),
  },
  { additionalProperties: false, default: {} },
);

export default definePlugin({
  name: 'libretranslate',
  options: LibreTranslateOptions,
  setup({ default_variants: variants, api_key_in_body: keyInBody, cors }, host) {
    const read: ReadSlot = host.reserveSlot('parameters');
    const parts = [translation(host, variants, keyInBody, read), detection(host, read), languageList(variants), settings(variants)];
    const api = apiOf(parts, DOCUMENT, PROBLEM_FORM);
    if (!cors) return api;
    const browsers = new BrowserAccess();
    return {
      routes: browsers.admittedTo(api.routes),
      routeSteps: (services) => [...api.routeSteps(services), ...browsers.steps(services)],
      document: { ...DOCUMENT, headers: browsers.documented },
    };
  },
});
