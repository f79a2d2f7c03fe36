// What front ends of LibreTranslate request first, without a key, as there: languages, settings and
// the description of the API.
import Type from 'typebox';
import type { Static } from 'typebox';
import type { Languages } from 'lingate';
import type { DefaultVariants } from '../facades/codes.ts';
import { answer, keyless } from '../facades/operation.ts';
import type { ApiPart } from '../facades/operation.ts';
import { answered, arrayOf, shown, string } from '../facades/reference.ts';
import { CODES } from './libretranslate-api.ts';

type ListedLanguage = Static<typeof Listed>;

const Listed = Type.Object({
  code: string('The code.'),
  name: string('The name in English.'),
  targets: arrayOf(Type.String(), 'The codes of its target languages.'),
});

export function languageList(variants: DefaultVariants): ApiPart {
  return keyless({
    path: '/languages',
    steps: ['access-log', 'shed', 'libretranslate-languages'],
    doc: {
      summary: 'List languages',
      description: 'The source languages with their targets. As a source, a variant such as `pt-BR` is treated as its base code.',
      tag: 'Languages',
      answer: answered('The list.', Type.Array(Listed), [{ code: 'en', name: 'English', targets: ['de', 'en', 'fr', 'pt-BR'] }]),
    },
    make: (languages) => answer(listed(languages, variants)),
  });
}

/** Each offered language with its targets, of which one that is only a target has none. A variant is a source as its base. */
function listed(languages: Languages, variants: DefaultVariants): readonly ListedLanguage[] {
  const all = CODES.listed(languages, variants);
  const resolved = all.map((one) => ({ ...one, target: CODES.target(one.theirs, languages, variants)?.code }));
  return resolved.flatMap(({ theirs, name, isTarget }) => {
    const source = CODES.source(theirs, languages);
    const reachable = resolved.filter(({ target }) => source !== undefined && target !== undefined && languages.offers(source, target));
    return isTarget || reachable.length > 0 ? { code: theirs, name, targets: reachable.map((one) => one.theirs) } : [];
  });
}

/** Milliseconds that a page waits for the next key press before it requests a translation. */
const PAUSE_MS = 500;

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
    make(languages, { documents, engineCan }) {
      const supportedFilesFormat = documents?.endings().map((ending) => `.${ending}`) ?? [];
      const language = firstPair(listed(languages, variants), engineCan.detection);
      return answer({ ...example, filesTranslation: documents !== undefined, supportedFilesFormat, language });
    },
  });
}

/** The languages with which a page begins. */
function firstPair(list: readonly ListedLanguage[], detects: boolean) {
  const first = (among: readonly ListedLanguage[]): ListedLanguage | undefined => among.find(({ code }) => code === 'en') ?? among[0];
  const shownOf = (one: ListedLanguage | undefined) => one && { code: one.code, name: one.name };
  const reached = new Set(list.flatMap(({ targets }) => targets));
  if (detects) return { source: example.language.source, target: shownOf(first(list.filter(({ code }) => reached.has(code)))) };
  // Without detection the source is preset to English, so the target must be another language.
  const source = first(list.filter(({ targets }) => targets.length > 0));
  const targets = list.filter(({ code }) => source?.targets.includes(code) === true);
  return { source: shownOf(source), target: shownOf(targets.find(({ code }) => code !== source?.code) ?? targets[0]) };
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
    make(_languages, services) {
      const { info, ...rest } = services.apiDocument('libretranslate');
      return answer({ ...rest, info: { ...(info as object), title: TITLE } });
    },
  });
}
