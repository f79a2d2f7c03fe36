// A caller's own words in errors: names of members, never values.

const WORD_LENGTH_SHOWN = 40;
const WORDS_SHOWN = 3;

/** One word: unprintable characters are replaced, and long words truncated. */
export function shownWord(word: string): string {
  // Truncated first, because a member's name can be as long as the whole body.
  const cut = word.slice(0, WORD_LENGTH_SHOWN).toWellFormed();
  const clean = cut.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?');
  return word.length > WORD_LENGTH_SHOWN ? `${clean}…` : clean;
}

/** The first few names that are not accepted; `undefined` if all are. */
export function unknownAmong(names: readonly string[], accepted: ReadonlySet<string>): string | undefined {
  const unknown = names.filter((name) => !accepted.has(name));
  if (unknown.length === 0) return undefined;
  const more = unknown.length > WORDS_SHOWN ? ` and ${unknown.length - WORDS_SHOWN} more` : '';
  return unknown.slice(0, WORDS_SHOWN).map(shownWord).join(', ') + more;
}
