// Chooses the dictionary of a glossary for a translation: the rule for every store and for routes that show glossaries.
import type { GlossaryReference } from './charge.ts';

/** Codes are canonical. */
export interface LanguagePair {
  readonly sourceLang: string;
  readonly targetLang: string;
}

/** A code without its region or script: `PT` for `PT-BR`. */
export function baseCode(code: string): string {
  const hyphen = code.indexOf('-');
  return hyphen === -1 ? code : code.slice(0, hyphen);
}

/** An exact match; otherwise, if `byBase` allows it, the first with the same base codes. */
export function dictionaryFor<Dictionary extends LanguagePair>(
  dictionaries: readonly Dictionary[],
  { sourceLang, targetLang, byBase }: Omit<GlossaryReference, 'glossaryId'>,
): Dictionary | undefined {
  const exact = dictionaries.find((one) => one.sourceLang === sourceLang && one.targetLang === targetLang);
  if (exact !== undefined || byBase !== true) return exact;
  const [source, target] = [baseCode(sourceLang), baseCode(targetLang)];
  return dictionaries.find((one) => baseCode(one.sourceLang) === source && baseCode(one.targetLang) === target);
}
