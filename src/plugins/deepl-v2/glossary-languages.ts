// Languages of glossaries: base codes, shown in lower case. A glossary for EN serves EN-GB and EN-US alike.
import { baseCode } from 'lingate';
import type { LanguagePair, Languages } from 'lingate';

/** Of a code of any case, with or without a region; `undefined` for what texts cannot be in. */
export function sourceBase(value: unknown, languages: Languages): string | undefined {
  const base = languages.base(value);
  // A region is fine where it is one that we know.
  return languages.source(value) === undefined && languages.target(value) === undefined ? undefined : base;
}

/** Of a code of any case, with or without a region; `undefined` for what texts cannot be translated to. */
export function targetBase(value: unknown, languages: Languages): string | undefined {
  const target = languages.target(value);
  if (target !== undefined) return baseCode(target);
  const bare = typeof value === 'string' ? value.toUpperCase() : undefined;
  return languages.all.targets.map(({ code }) => baseCode(code)).find((base) => base === bare);
}

/** As answers show codes. */
export function shownCode(code: string): string {
  return baseCode(code).toLowerCase();
}

/** Every pair of different languages that texts can be translated between. */
export function languagePairs(languages: Languages): readonly LanguagePair[] {
  return languages.sources.flatMap(({ code: sourceLang }) => {
    const bases = new Set(languages.targetsFrom(sourceLang).map(({ code }) => baseCode(code)));
    return [...bases].filter((targetLang) => targetLang !== sourceLang).map((targetLang) => ({ sourceLang, targetLang }));
  });
}
