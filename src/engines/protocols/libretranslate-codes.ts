// Our language codes and those of LibreTranslate: theirs are in lower case and mostly without regions.

/** What a code of theirs means that is not ours in lower case. */
const THEIRS: Readonly<Record<string, string>> = { pb: 'PT', zt: 'ZH' };

/** `codes` are the operator's, from ours to theirs; they may name a region or its base. */
export function libreTranslateCode(code: string, codes: Readonly<Record<string, string>>): string {
  const base = code.split('-', 1)[0]!;
  return codes[code] ?? codes[base] ?? base.toLowerCase();
}

/** A code that they have reported, as far as it is one of ours. */
export function codeOfLibreTranslate(reported: string, codes: Readonly<Record<string, string>>): string {
  const ours = Object.keys(codes).find((code) => codes[code]!.toLowerCase() === reported.toLowerCase());
  const base = reported.split(/[-_]/, 1)[0]!.toLowerCase();
  return ours?.split('-', 1)[0] ?? THEIRS[base] ?? base.toUpperCase();
}

/** From 1.7 on it lists these by new names and takes the old ones all the same. */
const OLD_NAMES: Readonly<Record<string, string>> = { 'pt-br': 'pb', 'zh-hans': 'zh', 'zh-hant': 'zt' };

/** A code of theirs by the one of its names that is compared. */
export function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase().replace('_', '-');
  return OLD_NAMES[name] ?? name;
}
