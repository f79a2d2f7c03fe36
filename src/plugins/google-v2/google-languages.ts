// GET and POST /language/translate/v2/languages.
import Type from 'typebox';
import type { Languages, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import { keptAnswers } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { isLocale, namesOf, standardCode } from '../facades/language-names.ts';
import type { NameOf } from '../facades/language-names.ts';
import type { Judged } from '../facades/members.ts';
import { objectSchema, queryDocs, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, JSON_OR_FORM, optional, string } from '../facades/reference.ts';
import { wrongTarget } from './google-choice.ts';
import { theirCode } from './google-codes.ts';
import { MODEL, readParameters } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

/** Describes the route. */
export const ABOUT_LANGUAGES = 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.';

/** The locale of the names, if there are to be any. */
interface NamesWanted {
  readonly locale: string | undefined;
}

interface NamingRules {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
}

type NamesParameter = ParameterEntry<NamesWanted, NamingRules>;

const PARAMETERS: readonly NamesParameter[] = [localeParameter('target'), MODEL];

const SHARED = {
  authenticated: true,
  tag: 'Languages',
  answer: answered(
    'The list.',
    Type.Object({
      data: Type.Object({ languages: Type.Array(Type.Object({ language: string('The code.'), name: optional('With `target`.') })) }),
    }),
    { data: { languages: [{ language: 'de', name: 'German' }] } },
  ),
} as const;

const GET_DOC: RouteDoc = {
  ...SHARED,
  summary: 'List languages',
  description: ABOUT_LANGUAGES,
  query: queryDocs(PARAMETERS),
};

const POST_DOC: RouteDoc = {
  ...SHARED,
  summary: 'List languages, by POST',
  description: 'The same with the parameters in a body.',
  body: {
    description: 'As a JSON object or as a form.',
    schema: objectSchema(PARAMETERS),
    example: { target: 'en' },
    contentTypes: JSON_OR_FORM,
    optional: true,
  },
};

export function languageList(host: PluginHost, setting: GoogleSetting): ApiPart {
  const path = '/language/translate/v2/languages';
  const steps = listChain(setting);
  return {
    routes: [route('GET', path, steps, GET_DOC, 'languages:read'), route('POST', path, steps, POST_DOC, 'languages:read')],
    steps: listSteps(host, setting, PARAMETERS, listOf),
  };
}

/** The parameter with the language of the names. */
export function localeParameter(name: string): NamesParameter {
  return {
    name,
    does: 'served',
    means: 'locale',
    about: 'A code of the list, or another language that the platform knows: the answer then has names in that language.',
    example: 'en',
    read: (value, named, _wanted, rules) => localeOf(value, named, rules),
  };
}

/** The names of a list's steps. */
export function listChain({ authenticated }: GoogleSetting): readonly string[] {
  return [...authenticated, 'google-read-languages', 'admit', 'google-languages'];
}

/** Reads the parameters and answers with the list as `written` has it; a list is written once for each locale. */
export function listSteps(
  host: PluginHost,
  setting: GoogleSetting,
  parameters: readonly NamesParameter[],
  written: (languages: Languages, nameOf: NameOf | undefined) => Outcome,
): ApiPart['steps'] {
  const slot = host.reserveSlot<NamesWanted>('names of languages');
  const listFor = keptAnswers<Outcome>(LISTS_MAX);
  return (services) => [
    readParameters('google-read-languages', services, setting, parameters, (x, members) => {
      const wanted: NamesWanted = { locale: undefined };
      const refusal = readAll(parameters, members, wanted, { languages: services.languages(), variants: setting.variants });
      if (refusal !== undefined) return refusal;
      x.set(slot, wanted);
      return undefined;
    }),
    {
      kind: 'body',
      name: 'google-languages',
      run(x) {
        const languages = services.languages(x);
        const { locale } = x.need(slot);
        return listFor(languages, locale ?? '', () => written(languages, locale === undefined ? undefined : namesOf(languages, locale)));
      },
    },
  ];
}

function localeOf(target: unknown, named: string, { languages, variants }: NamingRules): Judged<string> {
  // Somebody may read a language that is not offered.
  if (typeof target === 'string' && LOCALE.test(target) && isLocale(target)) return { sound: target };
  const code = targetNamed(target, languages, variants)?.code ?? sourceNamed(target, languages);
  return code === undefined ? wrongTarget(named) : { sound: standardCode(code) };
}

const LOCALE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;
/** So many lists are kept: a list of 200 languages takes some 10 kB. */
const LISTS_MAX = 50;

function listOf({ sources, targets }: Languages, nameOf: NameOf | undefined): Outcome {
  const codes = new Map([...targets, ...sources].map(({ code }) => [theirCode(code), code]));
  const list = [...codes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return answer({ data: { languages: list.map(([language, code]) => ({ language, name: nameOf?.(code) })) } });
}
