// Language codes as Google writes them: lower case, regions in upper case, different names for some; and the route that lists them.
import Type from 'typebox';
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Outcome, PluginHost, Refusal, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import { madeOnce } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { isLocale, namesIn, standardCode } from '../facades/language-names.ts';
import type { NameOf } from '../facades/language-names.ts';
import { chosen } from '../facades/members.ts';
import type { Judged } from '../facades/members.ts';
import { answered, JSON_OR_FORM, optional, parameter, string } from '../facades/reference.ts';
import { modelFault, readParameters, unknownOf } from './google-request.ts';
import type { GoogleSetting } from './google-request.ts';

/** Our codes that Google writes differently, not just in lower case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH', 'zh-CN'],
  ['ZH-HANS', 'zh-CN'],
  ['ZH-HANT', 'zh-TW'],
  ['NB', 'no'],
  ['KMR', 'ku'],
]);

/** A canonical code in Google's spelling: `PT-BR` is `pt-BR`, `ZH` is `zh-CN`. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? standardCode(code);
}

export const WRONG_TARGET = refuse('invalid_target_lang', 'Invalid Value: target must be a code that /languages lists.');

/** Codes are canonical. */
export function badPair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const from = sourceLang === undefined ? '' : ` from ${theirCode(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, theirCode);
  return refuse('validation_error', `Bad language pair: target ${theirCode(targetLang)} is not offered${from}; ${offered}.`);
}

const PARAMETERS = {
  target: 'A code of the list, or another language that the platform knows: the answer then has names in that language.',
  model: '`nmt` or `base`; has no effect.',
} as const;

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
  description: 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.',
  query: [parameter('target', 'en', PARAMETERS.target), parameter('model', 'nmt', PARAMETERS.model)],
};

const POST_DOC: RouteDoc = {
  ...SHARED,
  summary: 'List languages, by POST',
  description: 'The same with the parameters in a body.',
  body: {
    description: 'As a JSON object or as a form.',
    schema: Type.Object({ target: optional(PARAMETERS.target), model: optional(PARAMETERS.model) }),
    example: { target: 'en' },
    contentTypes: JSON_OR_FORM,
    optional: true,
  },
};

/** The locale of the names, if there are to be any. */
interface NamesWanted {
  readonly locale: string | undefined;
}

export function languageList(host: PluginHost, setting: GoogleSetting): ApiPart {
  const slot = host.reserveSlot<NamesWanted>('names of languages');
  const path = '/language/translate/v2/languages';
  const steps = [...setting.authenticated, 'google-read-languages', 'admit', 'google-languages'];
  const listsOf = madeOnce(() => new Map<string, Outcome>());
  return {
    routes: [route('GET', path, steps, GET_DOC), route('POST', path, steps, POST_DOC)],
    steps: (services) => [
      readParameters('google-read-languages', services, setting, (x, members) => {
        const fault = unknownOf(members, ['target', 'model']) ?? modelFault(members);
        if (fault !== undefined) return fault;
        const wanted = namesWanted(chosen(members, 'target'), services.languages(), setting.variants);
        if ('problem' in wanted) return wanted;
        x.set(slot, wanted.sound);
        return undefined;
      }),
      {
        kind: 'body',
        name: 'google-languages',
        run(x) {
          const languages = services.languages(x);
          return listFor(languages, x.need(slot), listsOf(languages));
        },
      },
    ],
  };
}

function namesWanted(target: unknown, languages: Languages, variants: DefaultVariants): Judged<NamesWanted> {
  if (target === undefined) return { sound: { locale: undefined } };
  // Somebody may read a language that is not offered.
  if (typeof target === 'string' && LOCALE.test(target) && isLocale(target)) return { sound: { locale: target } };
  const code = targetNamed(target, languages, variants)?.code ?? sourceNamed(target, languages);
  return code === undefined ? WRONG_TARGET : { sound: { locale: standardCode(code) } };
}

const LOCALE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;
/** So many lists are kept: a list of 200 languages takes some 10 kB. */
const LISTS_MAX = 50;

function listFor(languages: Languages, { locale }: NamesWanted, lists: Map<string, Outcome>): Outcome {
  const key = locale ?? '';
  const list = lists.get(key) ?? listOf(languages, nameOfIn(languages, locale));
  // The one that was asked for least recently goes first.
  lists.delete(key);
  lists.set(key, list);
  if (lists.size > LISTS_MAX) lists.delete(lists.keys().next().value!);
  return list;
}

/** `undefined` without names. English ones are those of the list. */
function nameOfIn(languages: Languages, locale: string | undefined): NameOf | undefined {
  if (locale === undefined) return undefined;
  const platform = /^en(?:-|$)/i.test(locale) ? undefined : namesIn(locale);
  return (code) => platform?.(code) ?? languages.nameOf(code);
}

function listOf({ sources, targets }: Languages, nameOf: NameOf | undefined): Outcome {
  const codes = new Map([...targets, ...sources].map(({ code }) => [theirCode(code), code]));
  const list = [...codes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return answer({ data: { languages: list.map(([language, code]) => ({ language, name: nameOf?.(code) })) } });
}
