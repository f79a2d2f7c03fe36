// Language pairs as an operator writes them: `EN-ES`, or `ES-EN` with a base code for all variants of a target.
import type { LanguageTable, PairTest } from './languages.ts';

/** `source` is `undefined` for any. */
interface PairPattern {
  readonly source: string | undefined;
  readonly targets: readonly string[];
}

const ANY = '*';

/** A test for the pairs of a list. Entries that are not pairs of the table are skipped. */
export function pairsOfList(entries: readonly string[], table: LanguageTable): PairTest {
  const targets = targetsBySource(entries, table);
  return (sourceLang, targetLang) => targets.get(sourceLang)?.has(targetLang) === true;
}

/** The targets of each source in a list; under `undefined` those of any source. `any` as in `readPair`. */
export function targetsBySource(
  entries: readonly string[],
  table: LanguageTable,
  any = false,
): ReadonlyMap<string | undefined, Set<string>> {
  const targets = new Map<string | undefined, Set<string>>();
  for (const entry of entries) {
    const pair = readPair(entry, table, any);
    if (typeof pair === 'string') continue;
    const known = targets.get(pair.source) ?? new Set();
    targets.set(pair.source, known);
    for (const target of pair.targets) known.add(target);
  }
  return targets;
}

/** What is wrong with an entry, as a message for operators. With `any`, `*` is allowed. */
export function faultOfPair(entry: string, table: LanguageTable, any = false): string | undefined {
  const pair = readPair(entry, table, any);
  return typeof pair === 'string' ? pair : undefined;
}

/** Tries each dash, because either code may contain one. With `any`, `*` stands for any source or target. */
function readPair(entry: string, { sources, targets }: LanguageTable, any: boolean): PairPattern | string {
  const upper = entry.toUpperCase();
  let sourceFound: string | undefined;
  for (let dash = upper.indexOf('-'); dash !== -1; dash = upper.indexOf('-', dash + 1)) {
    const [source, target] = [upper.slice(0, dash), upper.slice(dash + 1)];
    const isAny = any && source === ANY;
    if (!isAny && !sources.some(({ code }) => code === source)) continue;
    sourceFound = source;
    const meant = targets
      .map(({ code }) => code)
      .filter((code) => code === target || code.startsWith(`${target}-`) || (any && target === ANY));
    if (meant.length > 0) return { source: isAny ? undefined : source, targets: meant };
  }
  if (sourceFound === undefined) {
    const form = any ? ', nor with *; write SOURCE-TARGET, such as EN-ES, *-ES or EN-*' : '; write SOURCE-TARGET, such as EN-ES';
    return `does not begin with a source code of the list of languages${form}`;
  }
  return `${upper.slice(sourceFound.length + 1) || 'nothing'} is neither a target code of the list of languages nor the base of one`;
}
