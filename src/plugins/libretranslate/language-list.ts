// Language codes as LibreTranslate writes them, and the two routes that front ends request first: they need no key, as there.
import Type from 'typebox';
import type { Static } from 'typebox';
import { refuse, targetsOffered, validated } from 'lingate';
import type { Languages, Refusal, RouteDoc, ValidatedReply } from 'lingate';
import { answer, keylessRoute, keylessStep } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import { lowerBase, madeOnce } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, arrayOf, boolean, integer, string } from '../facades/reference.ts';

/** Codes that only this API has. */
const ALIASES: ReadonlyMap<unknown, string> = new Map([
  ['pb', 'PT-BR'],
  ['zt', 'ZH-HANT'],
]);

/** The canonical source for a code; a regional code means its base. `undefined` if it is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return sourceNamed(ALIASES.get(value) ?? value, languages);
}

/** The canonical target for a code; `undefined` if it is none. */
export function targetCode(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  return targetNamed(ALIASES.get(value) ?? value, languages, variants)?.code;
}

/** Codes are canonical. */
export function unavailablePair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const named = (code: string): string => `${languages.nameOf(code) ?? code} (${lowerBase(code)})`;
  const from = sourceLang === undefined ? '' : ` from ${named(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, lowerBase);
  return refuse('validation_error', `${named(targetLang)} is not available as a target language${from}; ${offered}`);
}

type ListedLanguage = Static<typeof Listed>;

const Listed = Type.Object({
  code: string('The code.'),
  name: string('The name in English.'),
  targets: arrayOf(Type.String(), 'The codes of its target languages.'),
});

const LIST_DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source languages with their targets. As a source, a variant such as `pt-BR` is treated as its base code.',
  authenticated: false,
  tag: 'Languages',
  answer: answered('The list.', Type.Array(Listed), [{ code: 'en', name: 'English', targets: ['de', 'en', 'fr', 'pt-BR'] }]),
};

export function languageList(variants: DefaultVariants): ApiPart {
  const answerFor = madeOnce((languages) => validated(answer(listed(languages, variants))));
  return {
    routes: [keylessRoute('/languages', ['access-log', 'shed', 'libretranslate-languages'], LIST_DOC)],
    steps: (services) => [keylessStep('libretranslate-languages', () => answerFor(services.languages()))],
  };
}

/**
 * Clients have one list for both menus: each language offered as a source or a target, with its targets. A language that is only a
 * target has none.
 */
function listed(languages: Languages, variants: DefaultVariants): readonly ListedLanguage[] {
  const { all, sources, targets } = languages;
  const regional = all.targets.filter(({ code }) => languages.source(code) === undefined);
  const codes = [...all.sources, ...regional].map(({ code, name }) => ({ code: lowerBase(code), name }));
  const meant = codes.map(({ code }) => ({ code, target: targetCode(code, languages, variants) }));
  const [from, to] = [new Set(sources.map(({ code }) => code)), new Set(targets.map(({ code }) => code))];
  return codes.flatMap(({ code, name }, index) => {
    const source = sourceCode(code, languages);
    const target = meant[index]!.target;
    if ((source === undefined || !from.has(source)) && (target === undefined || !to.has(target))) return [];
    const reachable = meant.filter((one) => one.target !== undefined && source !== undefined && languages.offers(source, one.target));
    return [{ code, name, targets: reachable.map((one) => one.code) }];
  });
}

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

const SETTINGS_DOC: RouteDoc = {
  summary: 'Settings of front ends',
  description: 'What a front end of LibreTranslate should offer.',
  authenticated: false,
  tag: 'Front ends',
  answer: answered(
    'The settings.',
    Type.Object({
      charLimit: integer('Always -1: the limit depends on the plan of the key.'),
      frontendTimeout: integer('Milliseconds to wait for the next key press.'),
      apiKeys: boolean('Always true: there are keys.'),
      keyRequired: boolean('Always true: translations need a key.'),
      suggestions: boolean('Always false: suggestions are not collected.'),
      filesTranslation: boolean('Whether files are translated.'),
      supportedFilesFormat: arrayOf(Type.String(), 'The endings of their names, with the dot; none if they are not.'),
      language: Type.Object({ source: Language, target: Language }, { description: 'The initial languages.' }),
    }),
    example,
  ),
};

export function settings(variants: DefaultVariants): ApiPart {
  return {
    routes: [keylessRoute('/frontend/settings', ['access-log', 'shed', 'libretranslate-settings'], SETTINGS_DOC)],
    steps: (services) => {
      const { documents, engineCan } = services;
      const supportedFilesFormat = documents?.endings().map((ending) => `.${ending}`) ?? [];
      const files = { filesTranslation: documents !== undefined, supportedFilesFormat };
      const answerFor = madeOnce((languages) => settingsOf(languages, engineCan.detection, variants, files));
      return [keylessStep('libretranslate-settings', () => answerFor(services.languages()))];
    },
  };
}

type Files = Pick<typeof example, 'filesTranslation'> & { readonly supportedFilesFormat: readonly string[] };

function settingsOf(languages: Languages, detects: boolean, variants: DefaultVariants, files: Files): ValidatedReply {
  const list = listed(languages, variants);
  const first = (among: readonly ListedLanguage[]): ListedLanguage | undefined => among.find(({ code }) => code === 'en') ?? among[0];
  const reached = new Set(list.flatMap(({ targets }) => targets));
  if (detects) return settingsWith(example.language.source, first(list.filter(({ code }) => reached.has(code))), files);
  // Without detection the source is preset to English, so the target must be another language.
  const source = first(list.filter(({ targets }) => targets.length > 0));
  const targets = list.filter(({ code }) => source?.targets.includes(code) === true);
  return settingsWith(source, targets.find(({ code }) => code !== source?.code) ?? targets[0], files);
}

function settingsWith(source: Offered | undefined, target: Offered | undefined, files: Files): ValidatedReply {
  const shown = (one: Offered | undefined): Offered | undefined => one && { code: one.code, name: one.name };
  return validated(answer({ ...example, ...files, language: { source: shown(source), target: shown(target) } }));
}
