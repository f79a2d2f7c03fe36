// Language codes with several names: what Google, Azure, LibreTranslate and their clients call a
// language that our list may call otherwise.
import type { Languages } from 'lingate';
import { targetOf } from './default-variants.ts';
import type { DefaultVariants } from './default-variants.ts';

const TRADITIONAL = ['ZH-TW', 'ZH-HANT'];
const SIMPLIFIED = ['ZH-CN', 'ZH-HANS', 'ZH'];
const HEBREW = ['HE', 'IW'];
const NORWEGIAN = ['NB', 'NO'];
const TAGALOG = ['TL', 'FIL'];
const JAVANESE = ['JV', 'JW'];
const CHEWA = ['NY', 'NYA'];
const GANDA = ['LG', 'LUG'];
const RUNDI = ['RN', 'RUN'];
const KURMANJI = ['KMR', 'KU'];
const HMONG = ['HMN', 'MWW'];

/** In our list, in order of preference; other codes are the same there. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ...['zh-tw', 'zh-hant', 'zh-cht'].map((code) => [code, TRADITIONAL] as const),
  ['zh-hk', ['ZH-HK', ...TRADITIONAL]],
  ['zh-mo', ['ZH-MO', ...TRADITIONAL]],
  ...['zh-cn', 'zh-hans', 'zh-chs', 'zh-sg', 'zh-my'].map((code) => [code, SIMPLIFIED] as const),
  ['zh', ['ZH', 'ZH-HANS', 'ZH-CN']],
  ['sr-cyrl', ['SR-CYRL', 'SR']],
  ['mn-cyrl', ['MN-CYRL', 'MN']],
  ['tlh-latn', ['TLH-LATN', 'TLH']],
  ...[HEBREW, NORWEGIAN, TAGALOG, JAVANESE, CHEWA, GANDA, RUNDI, KURMANJI, HMONG].flatMap((names) =>
    names.map((name) => [name.toLowerCase(), names] as const),
  ),
]);
/** ASCII only: Unicode's case mapping would turn a Kelvin sign into a k. */
const NAME = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;
/** A region, of two letters or three digits; four letters are a script. */
const WITH_REGION = /^([A-Za-z]{2,3}(?:-[A-Za-z]{4})?)-(?:[A-Za-z]{2}|\d{3})$/;

/** A code of our list, and the name by which it was found. */
interface NamedCode {
  /** In upper case. */
  readonly name: string;
  /** Canonical. */
  readonly code: string;
}

/** The canonical source for a code; a regional code means its base. `undefined` if it is none. */
export function sourceNamed(value: unknown, languages: Languages): string | undefined {
  const find = (name: string): string | undefined => languages.base(name);
  return (firstOf(value, find) ?? firstOf(withoutRegion(value), find))?.code;
}

/**
 * An unknown region means the base code, except for Chinese, where scripts differ: traditional is
 * never answered in simplified. `undefined` if it is none.
 */
export function targetNamed(value: unknown, languages: Languages, variants: DefaultVariants): NamedCode | undefined {
  const find = (name: string): string | undefined => targetOf(name, languages, variants);
  const base = withoutRegion(value);
  return firstOf(value, find) ?? (base?.toLowerCase() === 'zh' ? undefined : firstOf(base, find));
}

function withoutRegion(value: unknown): string | undefined {
  return typeof value === 'string' ? WITH_REGION.exec(value)?.[1] : undefined;
}

function firstOf(value: unknown, find: (name: string) => string | undefined): NamedCode | undefined {
  if (typeof value !== 'string' || !NAME.test(value)) return undefined;
  for (const name of NAMES.get(value.toLowerCase()) ?? [value.toUpperCase()]) {
    const code = find(name);
    if (code !== undefined) return { name, code };
  }
  return undefined;
}
