// Language codes with several names: what other vendors and their clients call a language that our
// list may call otherwise, and the target of a code without a region.
import Type from 'typebox';
import type { Static } from 'typebox';
import type { Languages, LanguageTable } from 'lingate';

const CODE = '^[A-Z]{2,3}(-[A-Z0-9]{2,8})?$';
const variant = (code: string) => Type.String({ pattern: CODE, default: code });

/** For codes without a region, with an API's defaults, which codes not given keep. */
export function defaultVariants(english: string, portuguese: string) {
  return Type.Object(
    { EN: variant(english), PT: variant(portuguese) },
    {
      additionalProperties: Type.String({ pattern: CODE }),
      default: {},
      description: 'The target for a code without a region, if only variants of it are targets, for example `{ EN: EN-US }`.',
    },
  );
}

export const DefaultVariants = defaultVariants('EN-GB', 'PT-PT');

export type DefaultVariants = Static<typeof DefaultVariants>;

/** ASCII only: Unicode's case mapping would turn a dotless i into an I. */
const ASCII_CODE = /^[A-Za-z0-9-]{2,12}$/;

/** The canonical target for a code of any case; `undefined` if it is none. */
export function targetOf(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  const known = languages.target(value);
  if (known !== undefined || typeof value !== 'string' || !ASCII_CODE.test(value)) return known;
  const code = value.toUpperCase();
  const chosen: Readonly<Record<string, unknown>> = variants;
  // A bare `ZH` is simplified; traditional is only a target if the list has it.
  return languages.target(Object.hasOwn(chosen, code) ? chosen[code] : code === 'ZH-HANS' ? 'ZH' : undefined);
}

/** `PT-BR` is `pt-BR`. */
export function lowerBase(code: string): string {
  const [base = '', region] = code.split('-');
  return region === undefined ? base.toLowerCase() : `${base.toLowerCase()}-${region}`;
}

const SCRIPT = /^[A-Z]{4}$/;

/** As BCP 47 spells it: `PT-BR` is `pt-BR`, `SR-LATN` `sr-Latn`. A bare `ZH` is simplified. */
export function standardCode(code: string): string {
  if (code === 'ZH') return 'zh-Hans';
  const [base = '', part] = code.split('-');
  if (part === undefined) return base.toLowerCase();
  return `${base.toLowerCase()}-${SCRIPT.test(part) ? part.charAt(0) + part.slice(1).toLowerCase() : part}`;
}

/** Names that are requested, and those in our list, in order of preference; others are the same. */
const SEVERAL = Object.entries({
  'zh-tw zh-hant zh-cht': 'ZH-TW ZH-HANT',
  'zh-hk': 'ZH-HK ZH-TW ZH-HANT',
  'zh-mo': 'ZH-MO ZH-TW ZH-HANT',
  'zh-cn zh-hans zh-chs zh-sg zh-my': 'ZH-CN ZH-HANS ZH',
  zh: 'ZH ZH-HANS ZH-CN',
  'sr-cyrl': 'SR-CYRL SR',
  'mn-cyrl': 'MN-CYRL MN',
  'tlh-latn': 'TLH-LATN TLH',
  'he iw': 'HE IW',
  'nb no': 'NB NO',
  'tl fil': 'TL FIL',
  'jv jw': 'JV JW',
  'ny nya': 'NY NYA',
  'lg lug': 'LG LUG',
  'rn run': 'RN RUN',
  'kmr ku': 'KMR KU',
  'hmn mww': 'HMN MWW',
});
const NAMES: ReadonlyMap<string, readonly string[]> = new Map(
  SEVERAL.flatMap(([requested, ours]) => requested.split(' ').map((name) => [name, ours.split(' ')] as const)),
);
/** ASCII only: Unicode's case mapping would turn a Kelvin sign into a k. */
const NAME = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})?$/;
/** A region, of two letters or three digits; four letters are a script. */
const WITH_REGION = /^([A-Za-z]{2,3}(?:-[A-Za-z]{4})?)-(?:[A-Za-z]{2}|\d{3})$/;

/** A target of our list, and the name by which it was found. */
interface NamedTarget {
  /** In upper case. */
  readonly name: string;
  /** Canonical. */
  readonly code: string;
}

/** A code of our list, offered or not. */
interface ListedCode {
  /** In the vendor's spelling. */
  readonly theirs: string;
  readonly code: string;
  /** In English. */
  readonly name: string;
  /** Whether texts in it can be translated. */
  readonly isSource: boolean;
  /** Whether texts can be translated into it, or into the variant for which it stands. */
  readonly isTarget: boolean;
}

/** The codes of a vendor. */
export class VendorCodes {
  readonly #spelled: (code: string) => string;
  readonly #ours: (code: string) => string;

  /** `spelled` writes a code of ours. `ours` reads those that mean something else at this vendor alone. */
  constructor(spelled: (code: string) => string, ours: (code: string) => string = (code) => code) {
    this.#spelled = spelled;
    this.#ours = ours;
  }

  /** In the vendor's spelling. */
  theirs(code: string): string {
    return this.#spelled(code);
  }

  /** The canonical source for a code; a regional code means its base. `undefined` if it is none. */
  source(value: unknown, languages: Languages): string | undefined {
    const code = typeof value === 'string' ? this.#ours(value) : undefined;
    const find = (name: string): string | undefined => languages.base(name);
    return (firstOf(code, find) ?? firstOf(withoutRegion(code), find))?.code;
  }

  /**
   * An unknown region means the base code, except for Chinese, where scripts differ: traditional is
   * never answered in simplified. `undefined` if it is none.
   */
  target(value: unknown, languages: Languages, variants: DefaultVariants): NamedTarget | undefined {
    const code = typeof value === 'string' ? this.#ours(value) : undefined;
    const find = (name: string): string | undefined => targetOf(name, languages, variants);
    const base = withoutRegion(code);
    return firstOf(code, find) ?? (base?.toLowerCase() === 'zh' ? undefined : firstOf(base, find));
  }

  /** Each code of a table once, sources first: clients have one list for both menus. */
  listed(languages: Languages, variants: DefaultVariants, table: LanguageTable = languages.all): readonly ListedCode[] {
    const { sources, targets } = languages;
    const [from, into] = [sources, targets].map((list) => new Set<string | undefined>(list.map(({ code }) => code)));
    const found = new Map<string, ListedCode>();
    for (const { code, name } of [...table.sources, ...table.targets]) {
      const theirs = this.theirs(code);
      if (found.has(theirs)) continue;
      const target = this.target(theirs, languages, variants);
      found.set(theirs, { theirs, code, name, isSource: from!.has(code), isTarget: into!.has(target?.code) });
    }
    return [...found.values()];
  }
}

function withoutRegion(code: string | undefined): string | undefined {
  return code === undefined ? undefined : WITH_REGION.exec(code)?.[1];
}

function firstOf(code: string | undefined, find: (name: string) => string | undefined): NamedTarget | undefined {
  if (code === undefined || !NAME.test(code)) return undefined;
  for (const name of NAMES.get(code.toLowerCase()) ?? [code.toUpperCase()]) {
    const found = find(name);
    if (found !== undefined) return { name, code: found };
  }
  return undefined;
}
