// Language codes as Google writes them: lower case, regions in upper case, and names of its own for some that we know.
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

/** What a code of Google's may be called in our list, the first that is there; other codes are as in our list. */
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

/** Codes of ours that Google writes in another way than in lower case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH', 'zh-CN'],
  ['ZH-HANS', 'zh-CN'],
  ['ZH-HANT', 'zh-TW'],
  ['NB', 'no'],
]);

/** A canonical code as Google writes it: `PT-BR` is `pt-BR`, `ZH` is `zh-CN`. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? lowerBase(code);
}

/** The canonical source that a code means; a regional one means its base. `undefined` for what is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return firstOf(value, (name) => languages.base(name));
}

/** The canonical target that a code means; `undefined` for what is none. */
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
