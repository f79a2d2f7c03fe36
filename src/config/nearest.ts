// Finds the word that was probably intended by a mistyped one.

const DISTANCE_SHARE_MAX = 0.4;
const LENGTH_MAX = 64;

/** The known word with the fewest edits, if they are few enough for a typo. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LENGTH_MAX) return undefined;
  let best: string | undefined;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const few = Math.max(1, Math.floor(Math.max(word.length, candidate.length) * DISTANCE_SHARE_MAX));
    if (distance <= few && distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) edits = Math.min(edits, beforePrevious[j - 2]! + 1);
      current.push(edits);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length]!;
}
