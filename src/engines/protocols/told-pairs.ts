// What an engine says of its pairs, as a test for codes of ours: by the codes that a translation would send.
import type { PairTest } from '../../domain/languages.ts';

/** `theirs` gives what is sent for a code of ours; `undefined` for one that the engine has no code for. */
export function toldPairs(
  pairs: Iterable<readonly [source: string, target: string]>,
  theirs: (code: string) => string | undefined,
): PairTest {
  const targets = new Map<string, Set<string>>();
  for (const [source, target] of pairs) {
    const known = targets.get(source);
    if (known === undefined) targets.set(source, new Set([target]));
    else known.add(target);
  }
  return (sourceLang, targetLang) => {
    const [source, target] = [theirs(sourceLang), theirs(targetLang)];
    return source !== undefined && target !== undefined && targets.get(source)?.has(target) === true;
  };
}
