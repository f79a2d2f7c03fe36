// Language codes as Google writes them: lower case, regions in upper case, different names for some; and the route that lists them.
import Type from 'typebox';
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Outcome, PluginHost, Refusal, RouteDoc } from 'lingate';
import { answer, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { lowerBase, targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { chosen } from '../facades/members.ts';
import { answered, optional, parameter, string } from '../facades/reference.ts';
import { AUTHENTICATED, modelFault, readParameters, unknownOf } from './google-request.ts';

const TRADITIONAL = ['ZH-TW', 'ZH-HANT'];
const SIMPLIFIED = ['ZH-CN', 'ZH-HANS', 'ZH'];
const HEBREW = ['HE', 'IW'];
const NORWEGIAN = ['NB', 'NO'];
const TAGALOG = ['TL', 'FIL'];
const JAVANESE = ['JV', 'JW'];

/** The names that a code of Google's may have in our list, in order of preference; other codes are the same. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['zh-tw', TRADITIONAL],
  ['zh-hant', TRADITIONAL],
  ['zh-hk', ['ZH-HK', ...TRADITIONAL]],
  ['zh-cn', SIMPLIFIED],
  ['zh-hans', SIMPLIFIED],
  ['zh', ['ZH', 'ZH-HANS', 'ZH-CN']],
  ['he', HEBREW],
  ['iw', HEBREW],
  ['no', NORWEGIAN],
  ['nb', NORWEGIAN],
  ['tl', TAGALOG],
  ['fil', TAGALOG],
  ['jv', JAVANESE],
  ['jw', JAVANESE],
]);
/** ASCII only: Unicode's case mapping would turn a Kelvin sign into a k. */
const NAME = /^[A-Za-z-]{2,7}$/;

/** Our codes that Google writes differently, not just in lower case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH', 'zh-CN'],
  ['ZH-HANS', 'zh-CN'],
  ['ZH-HANT', 'zh-TW'],
  ['NB', 'no'],
]);

/** A canonical code in Google's spelling: `PT-BR` is `pt-BR`, `ZH` is `zh-CN`. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? lowerBase(code);
}

/** The canonical source for a code; a regional code means its base. `undefined` if it is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return firstOf(value, (name) => languages.base(name));
}

/** The canonical target for a code; `undefined` if it is none. */
export function targetCode(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  return firstOf(value, (name) => targetOf(name, languages, variants));
}

function firstOf(value: unknown, find: (name: unknown) => string | undefined): string | undefined {
  const names = typeof value === 'string' && NAME.test(value) ? NAMES.get(value.toLowerCase()) : undefined;
  if (names === undefined) return find(value);
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

export const WRONG_TARGET = refuse('invalid_target_lang', 'Invalid Value: target must be a code that /languages lists.');

/** Codes are canonical. */
export function badPair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const from = sourceLang === undefined ? '' : ` from ${theirCode(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, theirCode);
  return refuse('validation_error', `Bad language pair: target ${theirCode(targetLang)} is not offered${from}; ${offered}.`);
}

const DOC: RouteDoc = {
  summary: 'List languages',
  description: 'The source and target languages. As a source, a variant such as `pt-BR` is treated as its base code.',
  authenticated: true,
  tag: 'Languages',
  query: [
    parameter('target', 'en', 'A code of the list: the answer then has names, always in English.'),
    parameter('model', 'nmt', '`nmt` or `base`; has no effect.'),
  ],
  answer: answered(
    'The list.',
    Type.Object({
      data: Type.Object({ languages: Type.Array(Type.Object({ language: string('The code.'), name: optional('With `target`.') })) }),
    }),
    { data: { languages: [{ language: 'de', name: 'German' }] } },
  ),
};

export function languageList(host: PluginHost, variants: DefaultVariants): ApiPart {
  const slot = host.reserveSlot<boolean>('names of languages');
  return {
    routes: [
      route('GET', '/language/translate/v2/languages', [...AUTHENTICATED, 'google-read-languages', 'admit', 'google-languages'], DOC),
    ],
    steps: (services) => [
      readParameters('google-read-languages', services, (x, members) => {
        const fault = unknownOf(members, ['target', 'model']) ?? modelFault(members);
        if (fault !== undefined) return fault;
        const target = chosen(members, 'target');
        const list = services.languages();
        if (target !== undefined && sourceCode(target, list) === undefined && targetCode(target, list, variants) === undefined) {
          return WRONG_TARGET;
        }
        x.set(slot, target !== undefined);
        return undefined;
      }),
      { kind: 'body', name: 'google-languages', run: (x) => listOf(services.languages(x), x.need(slot)) },
    ],
  };
}

function listOf({ sources, targets }: Languages, named: boolean): Outcome {
  // A language that is both a source and a target has the source's name, which is that of the bare code.
  const names = new Map([...targets, ...sources].map(({ code, name }) => [theirCode(code), name]));
  const list = [...names].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return answer({ data: { languages: list.map(([language, name]) => (named ? { language, name } : { language })) } });
}
