// Language codes as Google writes them: lower case, regions in upper case, and different names for some.
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal } from 'lingate';
import { lowerBase, targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';

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

/** Codes are canonical. */
export function badPair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const from = sourceLang === undefined ? '' : ` from ${theirCode(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, theirCode);
  return refuse('validation_error', `Bad language pair: target ${theirCode(targetLang)} is not offered${from}; ${offered}.`);
}
