// Names of languages in other languages than English, by the platform's own tables.
import type { Languages } from 'lingate';

const SCRIPT = /^[A-Z]{4}$/;

/** As BCP 47 spells it: `PT-BR` is `pt-BR`, `SR-LATN` `sr-Latn`. A bare `ZH` is simplified. */
export function standardCode(code: string): string {
  if (code === 'ZH') return 'zh-Hans';
  const [base = '', part] = code.split('-');
  if (part === undefined) return base.toLowerCase();
  return `${base.toLowerCase()}-${SCRIPT.test(part) ? part.charAt(0) + part.slice(1).toLowerCase() : part}`;
}

/** In the language of `locale`, as a line begins; `undefined` if the platform has none. */
export type NameOf = (code: string) => string | undefined;

/** `locale` is in BCP 47. Names that the platform does not have are `undefined`. */
export function namesIn(locale: string): NameOf {
  if (!isLocale(locale)) return () => undefined;
  const names = new Intl.DisplayNames([locale], { type: 'language', languageDisplay: 'standard', fallback: 'none' });
  return (code) => {
    const name = names.of(standardCode(code));
    return name === undefined ? undefined : name.charAt(0).toLocaleUpperCase(locale) + name.slice(1);
  };
}

/** Whether the platform has names in this language. */
export function isLocale(locale: string): boolean {
  return Intl.DisplayNames.supportedLocalesOf([locale]).length > 0;
}

/** In the language of `locale`. English and unknown ones are those of the list. */
export function namesOf(languages: Languages, locale: string): NameOf {
  const platform = /^en(?:-|$)/i.test(locale) ? undefined : namesIn(locale);
  return (code) => platform?.(code) ?? languages.nameOf(code);
}

const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}$/;
/** Browsers send about five. */
const TAGS_MAX = 10;

/**
 * The first of `Accept-Language` that the platform has, with its script and no region: so few that
 * all answers can be cached. English if there is none.
 */
export function acceptedLocale(field: string | undefined): string {
  const ranges = (field ?? '').split(',', TAGS_MAX).map((range) => {
    const [tag = '', weight] = range.split(';');
    return { tag: tag.trim(), weight: Number(/^\s*q=([\d.]{1,5})\s*$/i.exec(weight ?? 'q=1')?.[1] ?? 0) };
  });
  for (const { tag, weight } of ranges.toSorted((one, other) => other.weight - one.weight)) {
    if (!(weight > 0) || !TAG.test(tag) || !isLocale(tag)) continue;
    const { language, script } = new Intl.Locale(tag).maximize();
    return script === undefined ? language : `${language}-${script}`;
  }
  return 'en';
}
