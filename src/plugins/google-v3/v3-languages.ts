// The languages of version 3 of Google's API: GET …/supportedLanguages.
import Type from 'typebox';
import type { Languages, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { targetNamed } from '../facades/code-names.ts';
import { keptAnswers } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { namesOf } from '../facades/language-names.ts';
import { queryDocs, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, boolean, optional, string } from '../facades/reference.ts';
import { theirCode } from '../google-v2/google-codes.ts';
import { LISTS_MAX, localeOf } from '../google-v2/google-languages.ts';
import type { NamesWanted, NamingRules } from '../google-v2/google-languages.ts';
import { readParameters } from '../google-v2/google-request.ts';
import type { GoogleSetting } from '../google-v2/google-request.ts';
import { MODEL_V3, routesOf } from './v3-request.ts';

const PARAMETERS: readonly ParameterEntry<NamesWanted, NamingRules>[] = [
  {
    name: 'displayLanguageCode',
    does: 'served',
    means: 'locale',
    about: 'A code of the list, or another language that the platform knows: the answer then has names in that language.',
    example: 'en',
    read: (value, named, _wanted, rules) => localeOf(value, named, rules),
  },
  MODEL_V3,
];

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.',
  authenticated: true,
  tag: 'Languages',
  query: queryDocs(PARAMETERS),
  answer: answered(
    'The list.',
    Type.Object({
      languages: Type.Array(
        Type.Object({
          languageCode: string('The code.'),
          displayName: optional('With `displayLanguageCode`.'),
          supportSource: boolean('Whether it can be a source.'),
          supportTarget: boolean('Whether it can be a target.'),
        }),
      ),
    }),
    { languages: [{ languageCode: 'de', displayName: 'German', supportSource: true, supportTarget: true }] },
  ),
};

export function languageListV3(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<NamesWanted>('names of languages');
  const listFor = keptAnswers<Outcome>(LISTS_MAX);
  return {
    routes: routesOf('GET', '/supportedLanguages', [...setting.authenticated, 'google-read-languages', 'admit', 'google-languages'], DOC),
    steps: (services) => [
      readParameters('google-read-languages', services, setting, PARAMETERS, (x, members) => {
        const wanted: NamesWanted = { locale: undefined };
        const refusal = readAll(PARAMETERS, members, wanted, { languages: services.languages(), variants: setting.variants });
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
          return listFor(languages, locale ?? '', () => listOf(languages, setting.variants, locale));
        },
      },
    ],
  };
}

function listOf(languages: Languages, variants: DefaultVariants, locale: string | undefined): Outcome {
  const { sources, targets } = languages;
  const nameOf = locale === undefined ? undefined : namesOf(languages, locale);
  const [from, into] = [new Set(sources.map(({ code }) => code)), new Set(targets.map(({ code }) => code))];
  const codes = new Map([...targets, ...sources].map(({ code }) => [theirCode(code), code]));
  const list = [...codes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return answer({
    languages: list.map(([languageCode, code]) => ({
      languageCode,
      displayName: nameOf?.(code),
      supportSource: from.has(code),
      // A code without a region may stand for a variant.
      supportTarget: into.has(targetNamed(languageCode, languages, variants)?.code ?? ''),
    })),
  });
}
