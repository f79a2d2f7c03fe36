// Language codes of other APIs: targets that our list names otherwise, and our codes' spelling.
import { LRUCache } from 'lru-cache';
import Type from 'typebox';
import type { Static } from 'typebox';
import type { Languages } from 'lingate';

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
/** A bare `ZH` is simplified; traditional is only a target if the list has it. */
const SCRIPTS: Readonly<Record<string, string>> = { 'ZH-HANS': 'ZH' };

/** The canonical target for a code of any case; `undefined` if it is none. */
export function targetOf(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  const known = languages.target(value);
  if (known !== undefined || typeof value !== 'string' || !ASCII_CODE.test(value)) return known;
  const code = value.toUpperCase();
  return languages.target(valueOf(variants, code) ?? valueOf(SCRIPTS, code));
}

/** `PT-BR` is `pt-BR`. */
export function lowerBase(code: string): string {
  const [base = '', region] = code.split('-');
  return region === undefined ? base.toLowerCase() : `${base.toLowerCase()}-${region}`;
}

/** Once for each list of languages: routes that need no key must be cheap in a flood. */
export function madeOnce<T>(make: (languages: Languages) => T): (languages: Languages) => T {
  const made = new WeakMap<Languages, { readonly value: T }>();
  return (languages) => {
    const known = made.get(languages) ?? { value: make(languages) };
    made.set(languages, known);
    return known.value;
  };
}

/** The same for several answers, by key, in a cache of the `max` used last. */
export function cachedAnswers<T extends object>(max: number): (languages: Languages, key: string, make: () => T) => T {
  const cacheFor = madeOnce(() => new LRUCache<string, T>({ max }));
  return (languages, key, make) => {
    const cache = cacheFor(languages);
    const one = cache.get(key) ?? make();
    cache.set(key, one);
    return one;
  };
}

function valueOf(table: Readonly<Record<string, unknown>>, code: string): unknown {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
