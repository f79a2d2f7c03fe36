// The plugin `lingate/plugins/deepl-v2`: DeepL's API with the same keys, limits and charges, for existing clients.
import { definePlugin } from 'lingate';
import { DOCUMENT } from './deepl-v2/deepl-document.ts';
import { DeepLOptions } from './deepl-v2/deepl-options.ts';
import { languages } from './deepl-v2/deepl-languages.ts';
import { notOffered } from './deepl-v2/not-offered.ts';
import type { ApiPart, PartSetup } from './facades/api-part.ts';
import { glossariesV2 } from './deepl-v2/glossaries-v2.ts';
import { glossariesV3 } from './deepl-v2/glossaries-v3.ts';
import { translate } from './deepl-v2/deepl-translate.ts';
import { usage } from './deepl-v2/deepl-usage.ts';

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
