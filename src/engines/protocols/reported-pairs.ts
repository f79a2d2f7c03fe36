// Turns the pairs that an engine reports into a test for our codes.
import type { PairTest } from '../../domain/languages.ts';

/** `theirs` maps our code to the one that a translation would send; `undefined` if the engine has none. */
export function pairTestOf(
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
