// The languages of version 3 of Google's API: GET …/supportedLanguages.
import Type from 'typebox';
import type { Languages, Outcome, PluginHost, RouteDoc } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { targetNamed } from '../facades/code-names.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { NameOf } from '../facades/language-names.ts';
import { queryDocs } from '../facades/parameters.ts';
import { answered, boolean, optional, string } from '../facades/reference.ts';
import { theirCode } from '../google-v2/google-codes.ts';
import { ABOUT_LANGUAGES, listChain, listSteps, localeParameter } from '../google-v2/google-languages.ts';
import type { GoogleSetting } from '../google-v2/google-request.ts';
import { MODEL_V3, routesOf } from './v3-request.ts';

const PARAMETERS = [localeParameter('displayLanguageCode'), MODEL_V3];

const DOC: RouteDoc = {
  summary: 'List languages',
  description: ABOUT_LANGUAGES,
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
  return {
    routes: routesOf('GET', '/supportedLanguages', listChain(setting), DOC, 'languages:read'),
    steps: listSteps(host, setting, PARAMETERS, (languages, nameOf) => listOf(languages, setting.variants, nameOf)),
  };
}

function listOf(languages: Languages, variants: DefaultVariants, nameOf: NameOf | undefined): Outcome {
  const { sources, targets } = languages;
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
