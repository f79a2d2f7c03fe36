// Maps our language codes to LibreTranslate's, which are in lower case and mostly without regions.

/** LibreTranslate codes that are not ours in lower case. */
const THEIRS: Readonly<Record<string, string>> = { pb: 'PT', zt: 'ZH' };

/** `codes` is the operator's mapping from our codes to theirs; keys may be regional or base codes. */
export function libreTranslateCode(code: string, codes: Readonly<Record<string, string>>): string {
  const base = code.split('-', 1)[0]!;
  return codes[code] ?? codes[base] ?? base.toLowerCase();
}

/** Maps a reported code to ours as far as possible. */
export function codeOfLibreTranslate(reported: string, codes: Readonly<Record<string, string>>): string {
  const ours = Object.keys(codes).find((code) => codes[code]!.toLowerCase() === reported.toLowerCase());
  const base = reported.split(/[-_]/, 1)[0]!.toLowerCase();
  return ours?.split('-', 1)[0] ?? THEIRS[base] ?? base.toUpperCase();
}

/** From version 1.7 on, it lists these under new names but still accepts the old ones. */
const OLD_NAMES: Readonly<Record<string, string>> = { 'pt-br': 'pb', 'zh-hans': 'zh', 'zh-hant': 'zt' };

/** Normalizes a LibreTranslate code for comparison. */
export function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase().replace('_', '-');
  return OLD_NAMES[name] ?? name;
}
