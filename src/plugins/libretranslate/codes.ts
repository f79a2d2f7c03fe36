// Language codes as LibreTranslate writes them: lower case, regions in upper case, and some names of its own for what we know.
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal } from 'lingate';
import { targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';

/** Codes of its versions and its clients that differ from ours in more than case. */
const ALIASES: ReadonlyMap<unknown, string> = new Map([
  ['pb', 'PT-BR'],
  ['zt', 'ZH-HANT'],
  ['no', 'NB'],
  ['iw', 'HE'],
]);

/** `PT-BR` is `pt-BR`. */
export function theirCode(code: string): string {
  const [base = '', region] = code.split('-');
  return region === undefined ? base.toLowerCase() : `${base.toLowerCase()}-${region}`;
}

/** The canonical source that a code means; a regional one means its base. `undefined` for what is none. */
export function sourceCode(value: unknown, languages: Languages): string | undefined {
  return languages.base(ALIASES.get(value) ?? value);
}

/** The canonical target that a code means; `undefined` for what is none. */
export function targetCode(value: unknown, languages: Languages, variants: DefaultVariants): string | undefined {
  return targetOf(ALIASES.get(value) ?? value, languages, variants);
}

/** Codes are canonical. */
export function unavailablePair(sourceLang: string | undefined, targetLang: string, languages: Languages): Refusal {
  const named = (code: string): string => `${languages.nameOf(code) ?? code} (${theirCode(code)})`;
  const from = sourceLang === undefined ? '' : ` from ${named(sourceLang)}`;
  const offered = targetsOffered(sourceLang, languages, theirCode);
  return refuse('validation_error', `${named(targetLang)} is not available as a target language${from}; ${offered}`);
}
