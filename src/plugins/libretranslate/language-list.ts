// Language codes as LibreTranslate writes them, and GET /languages: what its clients fill their menus with, without a key, as there.
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

/** The canonical source that a code means; a regional one means its base. `undefined` for what is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return languages.base(ALIASES.get(value) ?? value);
}

/** The canonical target that a code means; `undefined` for what is none. */
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
  description:
    'The languages that texts may be in, and what each can be translated into. Variants such as `pt-BR` count as their base when they are sources.',
  authenticated: false,
  tag: 'Languages',
  answer: answered(
    'The list.',
    Type.Array(
      Type.Object({
        code: string('The code.'),
        name: string('The name in English.'),
        targets: Type.Array(Type.String(), { description: 'Codes of what it can be translated into.' }),
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
 * Clients have one list for both menus: each language that is offered as a source or as a target, with its targets. One that is
 * only a target has none.
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
