// Splits a text into pieces that Apertium APY translates completely, and preserves the white space that it would drop.

/** White space alternates with the pieces: around[0] pieces[0] around[1] … pieces[n-1] around[n]. */
interface CutText {
  readonly pieces: readonly string[];
  readonly around: readonly string[];
}

/**
 * APY splits longer texts (1,000 characters under load, otherwise 4,096 bytes) at arbitrary positions and silently drops
 * everything after ten splits: a text of 54,000 characters came back truncated with status 200. It never splits a text of this
 * length.
 */
const PIECE_UNITS_MAX = 1000;

// APY strips Python's white space from both ends, after turning control characters into spaces.
// oxlint-disable-next-line no-control-regex
const LEADING = /^[\s\u0000-\u001f\u007f-\u009f]+/;
// Where to split, best first: after a line end, a sentence, a word.
const CUTS = [/\n/g, /[.!?…。!?]['"”»)]*\s/gu, /\s/g];

export function cutText(text: string): CutText {
  const pieces: string[] = [];
  const around: string[] = [];
  let rest = text;
  let space = '';
  while (true) {
    const lead = LEADING.exec(rest)?.[0] ?? '';
    space += lead;
    rest = rest.slice(lead.length);
    if (rest === '') break;
    const end = rest.length <= PIECE_UNITS_MAX ? rest.length : cutPlace(rest);
    const piece = withoutTrailingSpace(rest.slice(0, end));
    around.push(space);
    pieces.push(piece);
    space = '';
    rest = rest.slice(piece.length);
  }
  return { pieces, around: [...around, space] };
}

/** Puts the translated pieces back between the white space. */
export function joinText(translated: readonly string[], around: readonly string[]): string {
  return translated.reduce((text, piece, i) => text + piece + around[i + 1]!, around[0]!);
}

function cutPlace(text: string): number {
  const window = text.slice(0, PIECE_UNITS_MAX);
  for (const pattern of CUTS) {
    let end = 0;
    for (const match of window.matchAll(pattern)) end = match.index + match[0].length;
    if (end > 0) return end;
  }
  // Without white space, split anywhere except inside a surrogate pair.
  const unit = window.charCodeAt(PIECE_UNITS_MAX - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? PIECE_UNITS_MAX - 1 : PIECE_UNITS_MAX;
}

/** Not by regex: `/\s+$/` takes quadratic time on long runs of spaces. */
function withoutTrailingSpace(text: string): string {
  let end = text.length;
  while (end > 0 && LEADING.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}
