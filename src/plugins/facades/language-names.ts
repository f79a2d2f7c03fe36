// Names of languages in other languages than English, by the platform's own tables, and lists of
// languages, each written once.
import { LRUCache } from 'lru-cache';
import type { Languages } from 'lingate';
import { standardCode } from './codes.ts';

/** In the language of `locale`, as a line begins; `undefined` if the platform has none. */
type NameOf = (code: string) => string | undefined;

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

/**
 * Answers about a list of languages, of which the `max` used last are cached by their keys: routes
 * that need no key must be cheap in a flood.
 */
export function cachedAnswers<T extends object>(max = 1): (languages: Languages, make: () => T, key?: string) => T {
  const caches = new WeakMap<Languages, LRUCache<string, T>>();
  return (languages, make, key = '') => {
    const cache = caches.get(languages) ?? new LRUCache<string, T>({ max });
    caches.set(languages, cache);
    const one = cache.get(key) ?? make();
    cache.set(key, one);
    return one;
  };
}
