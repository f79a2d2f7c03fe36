// Maps our language codes to those of MTranServer, which uses the models of Firefox Translations.

const THEIRS: Readonly<Record<string, string>> = { ZH: 'zh-Hans' };

/** There are no regional codes; they map to their base. */
export function mtranServerCode(code: string): string {
  const base = code.split('-', 1)[0]!;
  return THEIRS[base] ?? base.toLowerCase();
}

/** A detected code, with or without a script. */
export function codeOfMtranServer(detected: string): string {
  return detected.split(/[-_]/, 1)[0]!.toUpperCase();
}

/** Aliases that it accepts for one language, of which it lists only one. */
const SAME: Readonly<Record<string, string>> = { zh: 'zh-hans', 'zh-cn': 'zh-hans', no: 'nb' };

/** Normalizes an MTranServer code for comparison. */
export function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase();
  return SAME[name] ?? name;
}
