// What front ends of LibreTranslate request first, without a key, as there: languages, settings and
// the description of the API.
import Type from 'typebox';
import type { Static } from 'typebox';
import { validated } from 'lingate';
import type { Languages, ValidatedReply } from 'lingate';
import { answer, keyless } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { lowerBase, madeOnce } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, arrayOf, shown, string } from '../facades/reference.ts';
import { sourceCode, targetCode } from './libretranslate-api.ts';

type ListedLanguage = Static<typeof Listed>;

const Listed = Type.Object({
  code: string('The code.'),
  name: string('The name in English.'),
  targets: arrayOf(Type.String(), 'The codes of its target languages.'),
});

export function languageList(variants: DefaultVariants): ApiPart {
  const listOf = madeOnce((languages) => validated(answer(listed(languages, variants))));
  return keyless({
    path: '/languages',
    steps: ['access-log', 'shed', 'libretranslate-languages'],
    doc: {
      summary: 'List languages',
      description: 'The source languages with their targets. As a source, a variant such as `pt-BR` is treated as its base code.',
      tag: 'Languages',
      answer: answered('The list.', Type.Array(Listed), [{ code: 'en', name: 'English', targets: ['de', 'en', 'fr', 'pt-BR'] }]),
    },
    answerFor: (services) => () => listOf(services.languages()),
  });
}

/**
 * Clients have one list for both menus: each offered language with its targets. A language that is
 * only a target has none.
 */
function listed(languages: Languages, variants: DefaultVariants): readonly ListedLanguage[] {
  const { all, sources, targets } = languages;
  const regional = all.targets.filter(({ code }) => languages.source(code) === undefined);
  const codes = [...all.sources, ...regional].map(({ code, name }) => ({ code: lowerBase(code), name }));
  const resolved = codes.map(({ code }) => ({ code, target: targetCode(code, languages, variants) }));
  const [from, to] = [new Set(sources.map(({ code }) => code)), new Set(targets.map(({ code }) => code))];
  return codes.flatMap(({ code, name }, index) => {
    const source = sourceCode(code, languages);
    const target = resolved[index]!.target;
    if ((source === undefined || !from.has(source)) && (target === undefined || !to.has(target))) return [];
    const reachable = resolved.filter((one) => one.target !== undefined && source !== undefined && languages.offers(source, one.target));
    return [{ code, name, targets: reachable.map((one) => one.code) }];
  });
}

/** Milliseconds that a page waits for the next key press before it requests a translation. */
const PAUSE_MS = 500;

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

const SETTINGS_WORDS = {
  charLimit: 'Always -1: the limit depends on the plan of the key.',
  frontendTimeout: 'Milliseconds to wait for the next key press.',
  apiKeys: 'Always true: there are keys.',
  keyRequired: 'Always true: translations need a key.',
  suggestions: 'Always false: suggestions are not collected.',
  filesTranslation: 'Whether files are translated.',
  supportedFilesFormat: 'The endings of their names, with the dot; none if they are not.',
  language: 'The initial languages.',
};

export function settings(variants: DefaultVariants): ApiPart {
  return keyless({
    path: '/frontend/settings',
    steps: ['access-log', 'shed', 'libretranslate-settings'],
    doc: {
      summary: 'Settings of front ends',
      description: 'What a front end of LibreTranslate should offer.',
      tag: 'Front ends',
      answer: shown('The settings.', SETTINGS_WORDS, example),
    },
    answerFor(services) {
      const { documents, engineCan } = services;
      const supportedFilesFormat = documents?.endings().map((ending) => `.${ending}`) ?? [];
      const files = { filesTranslation: documents !== undefined, supportedFilesFormat };
      const settingsFor = madeOnce((languages) => settingsOf(languages, engineCan.detection, variants, files));
      return () => settingsFor(services.languages());
    },
  });
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
  const codeAndName = (one: Offered | undefined): Offered | undefined => one && { code: one.code, name: one.name };
  return validated(answer({ ...example, ...files, language: { source: codeAndName(source), target: codeAndName(target) } }));
}

/** Clients such as Dialect compare it. */
const TITLE = 'LibreTranslate';

/** The API's own OpenAPI document under the title by which clients recognise a LibreTranslate. */
export function specification(): ApiPart {
  return keyless({
    path: '/spec',
    steps: ['access-log', 'shed', 'libretranslate-spec'],
    doc: {
      summary: 'Read the description of this API',
      description: 'The OpenAPI document of this API.',
      tag: 'Front ends',
      answer: answered(
        'The document.',
        Type.Object({
          openapi: string('The version of OpenAPI.'),
          info: Type.Object({ title: Type.Literal(TITLE), version: Type.String() }),
          paths: Type.Record(Type.String(), Type.Unknown()),
        }),
        { openapi: '3.1.0', info: { title: TITLE, version: '1' }, paths: {} },
      ),
    },
    answerFor(services) {
      const document = madeOnce(() => {
        const { info, ...rest } = services.apiDocument('libretranslate');
        return validated(answer({ ...rest, info: { ...(info as object), title: TITLE } }));
      });
      return () => document(services.languages());
    },
  });
}
