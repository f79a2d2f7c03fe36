// Language pairs as an operator writes them: `EN-ES`, or `ES-EN` with a base code for all variants of a target.
import type { LanguageTable, PairTest } from './languages.ts';

interface PairEntry {
  readonly source: string;
  readonly targets: readonly string[];
}

/** `source` is `undefined` for any. */
interface PairPattern {
  readonly source: string | undefined;
  readonly targets: readonly string[];
}

const ANY = '*';

/** A test for the pairs of a list. Entries that are not pairs of the table are skipped. */
export function pairsOfList(entries: readonly string[], table: LanguageTable): PairTest {
  const targets = new Map<string, Set<string>>();
  for (const entry of entries) {
    const pair = readPair(entry, table);
    if (typeof pair === 'string') continue;
    const known = targets.get(pair.source) ?? new Set();
    targets.set(pair.source, known);
    for (const target of pair.targets) known.add(target);
  }
  return (sourceLang, targetLang) => targets.get(sourceLang)?.has(targetLang) === true;
}

/** What is wrong with an entry, as a message for operators. With `any`, `*` is allowed. */
export function faultOfPair(entry: string, table: LanguageTable, any = false): string | undefined {
  const pair = any ? readPair(entry, table, true) : readPair(entry, table);
  return typeof pair === 'string' ? pair : undefined;
}

/** Tries each dash, because either code may contain one. With `any`, `*` stands for any source or target. */
export function readPair(entry: string, table: LanguageTable, any: true): PairPattern | string;
export function readPair(entry: string, table: LanguageTable, any?: false): PairEntry | string;
export function readPair(entry: string, { sources, targets }: LanguageTable, any = false): PairPattern | string {
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
