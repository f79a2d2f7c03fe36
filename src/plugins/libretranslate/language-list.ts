// GET /languages: what LibreTranslate's clients fill their menus with. It needs no key, as there.
import Type from 'typebox';
import { json } from 'lingate';
import type { Languages, Outcome, RouteDoc } from 'lingate';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { sourceCode, targetCode, theirCode } from './codes.ts';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { LibreTranslateOptions } from './libretranslate-options.ts';
import { PROBLEM_FORM } from './libretranslate-document.ts';

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
  answer: {
    status: 200,
    description: 'The list.',
    schema: Type.Array(
      Type.Object({
        code: Type.String({ description: 'The code.' }),
        name: Type.String({ description: 'The name in English.' }),
        targets: Type.Array(Type.String(), { description: 'Codes of what it can be translated into.' }),
      }),
    ),
    example: [{ code: 'en', name: 'English', targets: ['de', 'en', 'fr', 'pt-BR'] }],
  },
};

export function languageList({ options }: PartSetup<LibreTranslateOptions>): ApiPart {
  // No key is needed here, so a flood of requests must be cheap: the list is made once.
  const made = new WeakMap<Languages, Outcome>();
  const answer = (languages: Languages): Outcome => {
    let outcome = made.get(languages);
    if (outcome === undefined) made.set(languages, (outcome = json(JSON.stringify(listed(languages, options.default_variants)))));
    return outcome;
  };
  return {
    routes: [
      {
        method: 'GET',
        path: '/languages',
        takesBody: false,
        steps: ['access-log', 'shed', 'libretranslate-languages'],
        problemForm: PROBLEM_FORM,
        doc: DOC,
      },
    ],
    steps: (services) => [{ kind: 'head', name: 'libretranslate-languages', run: () => answer(services.languages()) }],
  };
}

/**
 * Clients have one list for both menus: each language that is offered as a source or as a target, with its targets. One that is
 * only a target has none.
 */
export function listed(languages: Languages, variants: DefaultVariants): readonly ListedLanguage[] {
  const { all, sources, targets } = languages;
  const regional = all.targets.filter(({ code }) => languages.source(code) === undefined);
  const codes = [...all.sources, ...regional].map(({ code, name }) => ({ code: theirCode(code), name }));
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
