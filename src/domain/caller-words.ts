// Makes a caller's own words fit to be echoed in an error: names of members, never values.

const WORD_LENGTH_SHOWN = 40;
const WORDS_SHOWN = 3;

/** One word: unprintable characters are replaced, and long words truncated. */
export function shownWord(word: string): string {
  // Truncated first, because a member's name can be as long as the whole body.
  const cut = word.slice(0, WORD_LENGTH_SHOWN).toWellFormed();
  const clean = cut.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?');
  return word.length > WORD_LENGTH_SHOWN ? `${clean}…` : clean;
}

/** The first few members that are not accepted; `undefined` if all are. */
export function unknownMembers(members: object, accepted: ReadonlySet<string>): string | undefined {
  return unknownAmong(Object.keys(members), accepted);
}

/** The same for a list of names. */
export function unknownAmong(names: readonly string[], accepted: ReadonlySet<string>): string | undefined {
  const unknown = names.filter((name) => !accepted.has(name));
  if (unknown.length === 0) return undefined;
  const more = unknown.length > WORDS_SHOWN ? ` and ${unknown.length - WORDS_SHOWN} more` : '';
  return unknown.slice(0, WORDS_SHOWN).map(shownWord).join(', ') + more;
}
