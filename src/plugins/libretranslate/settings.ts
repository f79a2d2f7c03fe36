// GET /frontend/settings: requested first by front ends of LibreTranslate. It needs no key, as there.
import Type from 'typebox';
import type { GatewayServices, Outcome, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered } from '../facades/reference.ts';
import { listed } from './language-list.ts';
import type { ListedLanguage } from './language-list.ts';

/** Milliseconds that a page waits for the next key press before it requests a translation. */
const PAUSE_MS = 500;

const Language = Type.Object({ code: Type.String(), name: Type.String() });

type Offered = Pick<ListedLanguage, 'code' | 'name'>;

const example = {
  charLimit: -1,
  frontendTimeout: PAUSE_MS,
  apiKeys: true,
  keyRequired: true,
  suggestions: false,
  filesTranslation: false,
  supportedFilesFormat: [],
  language: { source: { code: 'auto', name: 'Auto Detect' }, target: { code: 'en', name: 'English' } },
};

const DOC: RouteDoc = {
  summary: 'Settings of front ends',
  description: 'What a front end of LibreTranslate should offer.',
  authenticated: false,
  tag: 'Front ends',
  answer: answered(
    'The settings.',
    Type.Object({
      charLimit: Type.Integer({ description: 'Always -1: the limit depends on the plan of the key.' }),
      frontendTimeout: Type.Integer({ description: 'Milliseconds to wait for the next key press.' }),
      apiKeys: Type.Boolean({ description: 'Always true: there are keys.' }),
      keyRequired: Type.Boolean({ description: 'Always true: translations need a key.' }),
      suggestions: Type.Boolean({ description: 'Always false: suggestions are not collected.' }),
      filesTranslation: Type.Boolean({ description: 'Always false: files are not translated.' }),
      supportedFilesFormat: Type.Array(Type.String(), { description: 'Of none.' }),
      language: Type.Object({ source: Language, target: Language }, { description: 'The initial languages.' }),
    }),
    example,
  ),
};

export function settings(variants: DefaultVariants): ApiPart {
  return {
    routes: [route('GET', '/frontend/settings', ['access-log', 'shed', 'libretranslate-settings'], DOC)],
    steps: (services) => [{ kind: 'head', name: 'libretranslate-settings', run: () => settingsOf(services, variants) }],
  };
}

function settingsOf(services: GatewayServices, variants: DefaultVariants): Outcome {
  const list = listed(services.languages(), variants);
  const first = (among: readonly ListedLanguage[]): ListedLanguage | undefined => among.find(({ code }) => code === 'en') ?? among[0];
  const reached = new Set(list.flatMap(({ targets }) => targets));
  if (services.engineCan.detection) return settingsWith(example.language.source, first(list.filter(({ code }) => reached.has(code))));
  // Without detection the source is preset to English, so the target must be another language.
  const source = first(list.filter(({ targets }) => targets.length > 0));
  const targets = list.filter(({ code }) => source?.targets.includes(code) === true);
  return settingsWith(source, targets.find(({ code }) => code !== source?.code) ?? targets[0]);
}

function settingsWith(source: Offered | undefined, target: Offered | undefined): Outcome {
  const shown = (one: Offered | undefined): Offered | undefined => one && { code: one.code, name: one.name };
  return answer({ ...example, language: { source: shown(source), target: shown(target) } });
}
