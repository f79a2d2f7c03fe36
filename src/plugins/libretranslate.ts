// The plugin `lingate/plugins/libretranslate`: LibreTranslate's API with the same keys, limits and charges, for existing clients.
import { definePlugin } from 'lingate';
import { BrowserAccess } from './libretranslate/browser-access.ts';
import { detection } from './libretranslate/detection.ts';
import { DOCUMENT } from './libretranslate/libretranslate-document.ts';
import { languageList } from './libretranslate/language-list.ts';
import { LibreTranslateOptions } from './libretranslate/libretranslate-options.ts';
import type { ApiPart, PartSetup } from './facades/api-part.ts';
import { reserveReadSlot } from './libretranslate/key-and-members.ts';
import type { ReadSlot } from './libretranslate/key-and-members.ts';
import { settings } from './libretranslate/settings.ts';
import { translation } from './libretranslate/translation.ts';

/** What the API is made of: each has its routes and the steps that they name. */
const PARTS: readonly ((setup: PartSetup<LibreTranslateOptions>, read: ReadSlot) => ApiPart)[] = [
  translation,
  detection,
  languageList,
  settings,
];

export default definePlugin({
  name: 'libretranslate',
  options: LibreTranslateOptions,
  setup(options, host) {
    const read = reserveReadSlot(host);
    const parts = PARTS.map((part) => part({ options, host }, read));
    const routes = parts.flatMap((part) => part.routes);
    const browsers = options.cors ? new BrowserAccess() : undefined;
    return {
      routes: browsers === undefined ? routes : browsers.admittedTo(routes),
      routeSteps: (services) => [...parts.flatMap(({ steps }) => steps(services)), ...(browsers?.steps(services) ?? [])],
      document: browsers === undefined ? DOCUMENT : { ...DOCUMENT, headers: browsers.documented },
    };
  },
});
