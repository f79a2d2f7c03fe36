// Names of languages in other languages than English, by the platform's own tables.

const SCRIPT = /^[A-Z]{4}$/;

/** A canonical code as BCP 47 spells it: `PT-BR` is `pt-BR`, `SR-LATN` is `sr-Latn`. A bare `ZH` is simplified Chinese. */
export function standardCode(code: string): string {
  if (code === 'ZH') return 'zh-Hans';
  const [base = '', part] = code.split('-');
  if (part === undefined) return base.toLowerCase();
  return `${base.toLowerCase()}-${SCRIPT.test(part) ? part.charAt(0) + part.slice(1).toLowerCase() : part}`;
}

/** The name of a canonical code in the language of `locale`, as at the beginning of a line; `undefined` if the platform has none. */
export type NameOf = (code: string) => string | undefined;

/** `locale` is in the spelling of BCP 47. Names of a locale that the platform does not have are `undefined`. */
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
