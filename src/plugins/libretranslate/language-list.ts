// Language codes as LibreTranslate writes them, and GET /languages, from which clients fill their menus; it needs no key, as there.
import Type from 'typebox';
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { lowerBase, madeOnce, targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, string } from '../facades/reference.ts';

/** Codes of its versions and its clients that differ from ours in more than case. */
const ALIASES: ReadonlyMap<unknown, string> = new Map([
  ['pb', 'PT-BR'],
  ['zt', 'ZH-HANT'],
  ['no', 'NB'],
  ['iw', 'HE'],
]);

/** The canonical source for a code; a regional code means its base. `undefined` if it is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return languages.base(ALIASES.get(value) ?? value);
}

/** The canonical target for a code; `undefined` if it is none. */
export function targetCode(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  return targetOf(ALIASES.get(value) ?? value, languages, variants);
}

/** Codes are canonical. */
export function unavailablePair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const named = (code: string): string => `${languages.nameOf(code) ?? code} (${lowerBase(code)})`;
  const from = sourceLang === undefined ? '' : ` from ${named(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, lowerBase);
  return refuse('validation_error', `${named(targetLang)} is not available as a target language${from}; ${offered}`);
}

export interface ListedLanguage {
  readonly code: string;
  /** In English. */
  readonly name: string;
  readonly targets: readonly string[];
}

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source languages with their targets. As a source, a variant such as `pt-BR` is treated as its base code.',
  authenticated: false,
  tag: 'Languages',
  answer: answered(
    'The list.',
    Type.Array(
      Type.Object({
        code: string('The code.'),
        name: string('The name in English.'),
        targets: Type.Array(Type.String(), { description: 'The codes of its target languages.' }),
      }),
    ),
    [{ code: 'en', name: 'English', targets: ['de', 'en', 'fr', 'pt-BR'] }],
  ),
};

export function languageList(variants: DefaultVariants): ApiPart {
  const answerFor = madeOnce((languages) => answer(listed(languages, variants)));
  return {
    routes: [route('GET', '/languages', ['access-log', 'shed', 'libretranslate-languages'], DOC)],
    steps: (services) => [{ kind: 'head', name: 'libretranslate-languages', run: () => answerFor(services.languages()) }],
  };
}

/**
 * Clients have one list for both menus: each language offered as a source or a target, with its targets. A language that is only a
 * target has none.
 */
export function listed(languages: Languages, variants: DefaultVariants): readonly ListedLanguage[] {
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
