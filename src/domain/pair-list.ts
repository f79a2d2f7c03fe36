// Pairs of languages as an operator writes them: `EN-ES`, or with a base for all variants of a target, `ES-EN`.
import type { LanguageTable, PairTest } from './languages.ts';

interface PairEntry {
  readonly source: string;
  readonly targets: readonly string[];
}

/** The pairs of a list as a test. Entries that are no pairs of the table are left out. */
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

/** What is wrong with an entry, in words for the operator. */
export function faultOfPair(entry: string, table: LanguageTable): string | undefined {
  const pair = readPair(entry, table);
  return typeof pair === 'string' ? pair : undefined;
}

/** Either code may have a dash in it: each dash is tried. */
function readPair(entry: string, { sources, targets }: LanguageTable): PairEntry | string {
  const upper = entry.toUpperCase();
  let sourceFound: string | undefined;
  for (let dash = upper.indexOf('-'); dash !== -1; dash = upper.indexOf('-', dash + 1)) {
    const [source, target] = [upper.slice(0, dash), upper.slice(dash + 1)];
    if (!sources.some(({ code }) => code === source)) continue;
    sourceFound = source;
    const meant = targets.map(({ code }) => code).filter((code) => code === target || code.startsWith(`${target}-`));
    if (meant.length > 0) return { source, targets: meant };
  }
  if (sourceFound === undefined) return 'does not begin with a source code of the list of languages; write SOURCE-TARGET, such as EN-ES';
  return `${upper.slice(sourceFound.length + 1) || 'nothing'} is neither a target code of the list of languages nor the base of one`;
}
