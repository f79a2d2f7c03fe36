// Our language codes and those of MTranServer, whose models are those of Firefox Translations.

const THEIRS: Readonly<Record<string, string>> = { ZH: 'zh-Hans' };

/** They have no regions: one is taken for its base. */
export function mtranServerCode(code: string): string {
  const base = code.split('-', 1)[0]!;
  return THEIRS[base] ?? base.toLowerCase();
}

/** A code that they have detected, with its script or without. */
export function codeOfMtranServer(detected: string): string {
  return detected.split(/[-_]/, 1)[0]!.toUpperCase();
}

/** Names that it takes for one language, and of which it lists one. */
const SAME: Readonly<Record<string, string>> = { zh: 'zh-hans', 'zh-cn': 'zh-hans', no: 'nb' };

/** A code of theirs by the one of its names that is compared. */
export function oneNameOf(theirs: string): string {
  const name = theirs.toLowerCase();
  return SAME[name] ?? name;
}
