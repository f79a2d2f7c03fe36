// Codes of other APIs: targets that our list does not have under that name, and how they write ours.
import Type from 'typebox';
import type { Static } from 'typebox';
import type { Languages } from 'lingate';

const CODE = '^[A-Z]{2,3}(-[A-Z0-9]{2,8})?$';
const variant = (code: string) => Type.String({ pattern: CODE, default: code });

/** What a bare target stands for, with the defaults of an API. Those that are not given stay as they are. */
export function defaultVariants(english: string, portuguese: string) {
  return Type.Object(
    { EN: variant(english), PT: variant(portuguese) },
    {
      additionalProperties: Type.String({ pattern: CODE }),
      default: {},
      description: 'The target that a bare code means where only variants of it are targets, such as `{ EN: EN-US }`.',
    },
  );
}

export const DefaultVariants = defaultVariants('EN-GB', 'PT-PT');

export type DefaultVariants = Static<typeof DefaultVariants>;

/** ASCII only: Unicode's case mapping would turn a dotless i into an I. */
const ASCII_CODE = /^[A-Za-z0-9-]{2,12}$/;
/** A bare `ZH` is simplified Chinese; traditional Chinese is a target only where the list has it, and never silently simplified. */
const SCRIPTS: Readonly<Record<string, string>> = { 'ZH-HANS': 'ZH' };

/** The canonical target that a code of any case means; `undefined` for what is none. */
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

/** What is made of each list of languages once: routes that need no key must be cheap in a flood of requests. */
export function madeOnce<T>(make: (languages: Languages) => T): (languages: Languages) => T {
  const made = new WeakMap<Languages, { readonly value: T }>();
  return (languages) => {
    const known = made.get(languages) ?? { value: make(languages) };
    made.set(languages, known);
    return known.value;
  };
}

function valueOf(table: Readonly<Record<string, unknown>>, code: string): unknown {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}
