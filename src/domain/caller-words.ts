// A caller's own words, fit to be shown back to that caller in an error: names of members, never values.

const WORD_LENGTH_SHOWN = 40;
const WORDS_SHOWN = 3;

/** One word: what could not be printed is replaced, what is long is cut. */
export function shownWord(word: string): string {
  // Cut first: a member's name may be as long as the whole body.
  const cut = word.slice(0, WORD_LENGTH_SHOWN).toWellFormed();
  const clean = cut.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?');
  return word.length > WORD_LENGTH_SHOWN ? `${clean}…` : clean;
}

/** The first few of the members that are not among the accepted ones; `undefined` when all are. */
export function unknownMembers(members: object, accepted: ReadonlySet<string>): string | undefined {
  return unknownAmong(Object.keys(members), accepted);
}

/** Likewise, of names. */
export function unknownAmong(names: readonly string[], accepted: ReadonlySet<string>): string | undefined {
  const unknown = names.filter((name) => !accepted.has(name));
  if (unknown.length === 0) return undefined;
  const more = unknown.length > WORDS_SHOWN ? ` and ${unknown.length - WORDS_SHOWN} more` : '';
  return unknown.slice(0, WORDS_SHOWN).map(shownWord).join(', ') + more;
}
