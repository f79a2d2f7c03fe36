// The rules of `routing`: which engines a request goes to, by plan and language pair; the first
// matching rule decides. Also language pairs as operators write them: `EN-ES`, or `ES-EN` with a
// base code for all variants of a target.
import type { LanguageTable, PairTest } from './languages.ts';

/** The name of the single engine configured by `engine:`. */
export const ONLY_ENGINE = 'default';

/** A rule as configured. */
export interface RoutingRule {
  /** Names of plans; `undefined` for all. */
  readonly plans?: readonly string[] | undefined;
  /** Pairs, with `*` for any code; `undefined` for all. */
  readonly pairs?: readonly string[] | undefined;
  /** Names of engines, in the order to try them. */
  readonly engines: readonly string[];
}

/** A rule with parsed pairs. */
interface ReadRule {
  readonly plans: ReadonlySet<string> | undefined;
  readonly engines: readonly string[];
  /** An `undefined` `sourceLang` is matched by `*` and by no code. Codes are canonical. */
  readonly fitsPair: (sourceLang: string | undefined, targetLang: string) => boolean;
}

/** The rules, or one for everything. Pairs that are not in the table are skipped. */
export function readRules(
  rules: readonly RoutingRule[] | undefined,
  engines: readonly { readonly name: string }[],
  table: LanguageTable,
): readonly ReadRule[] {
  return (rules ?? [{ engines: engines.map(({ name }) => name), plans: undefined, pairs: undefined }]).map((rule): ReadRule => {
    const targets = rule.pairs && targetsBySource(rule.pairs, table, true);
    return {
      plans: rule.plans && new Set(rule.plans),
      engines: rule.engines,
      fitsPair: (source, target) => targets === undefined || [undefined, source].some((from) => targets.get(from)?.has(target) === true),
    };
  });
}

/** The first matching rule's index, or -1. A plan that no rule names counts as `undefined`. */
export function ruleFor(rules: readonly ReadRule[], plan: string | undefined, sourceLang: string | undefined, targetLang: string): number {
  return rules.findIndex(({ plans, fitsPair }) => fitsPlan(plans, plan) && fitsPair(sourceLang, targetLang));
}

function fitsPlan(plans: ReadonlySet<string> | undefined, plan: string | undefined): boolean {
  return plans === undefined || (plan !== undefined && plans.has(plan));
}

/** The plans that rules name; teams of all other plans are treated alike. */
export function plansNamed(rules: readonly Pick<RoutingRule, 'plans'>[]): readonly string[] {
  return [...new Set(rules.flatMap(({ plans }) => [...(plans ?? [])]))];
}

/**
 * For each rule that can never match, the index of the earlier rule that covers it; `undefined` if
 * several do together, or if it has no pairs.
 */
export function uselessRules(rules: readonly RoutingRule[], table: LanguageTable): ReadonlyMap<number, number | undefined> {
  const plans = [...plansNamed(rules), undefined];
  const sources = [...table.sources.map(({ code }) => code), undefined];
  /** Everything that each rule would match on its own. */
  const cells = readRules(rules, [], table).map((rule) => {
    const pairs = sources.flatMap((source) =>
      table.targets.filter(({ code }) => rule.fitsPair(source, code)).map(({ code }) => `${source} ${code}`),
    );
    return new Set(plans.filter((plan) => fitsPlan(rule.plans, plan)).flatMap((plan) => pairs.map((pair) => `${pair} ${plan}`)));
  });
  const useless = new Map<number, number | undefined>();
  const taken = new Set<string>();
  for (const [index, would] of cells.entries()) {
    const isIn = (before: ReadonlySet<string>): boolean => [...would].every((cell) => before.has(cell));
    if (isIn(taken)) {
      const alone = would.size === 0 ? -1 : cells.slice(0, index).findIndex(isIn);
      useless.set(index, alone === -1 ? undefined : alone);
    }
    for (const cell of would) taken.add(cell);
  }
  return useless;
}

/** `source` is `undefined` for any. */
interface PairPattern {
  readonly source: string | undefined;
  readonly targets: readonly string[];
}

const ANY = '*';

/** A test for the pairs of a list. Entries that are not pairs of the table are skipped. */
export function pairsOfList(entries: readonly string[], table: LanguageTable): PairTest {
  const targets = targetsBySource(entries, table, false);
  return (sourceLang, targetLang) => targets.get(sourceLang)?.has(targetLang) === true;
}

/** The targets of each source in a list; under `undefined` those of any source. */
function targetsBySource(entries: readonly string[], table: LanguageTable, any: boolean): ReadonlyMap<string | undefined, Set<string>> {
  const targets = new Map<string | undefined, Set<string>>();
  for (const entry of entries) {
    const pair = readPair(entry, table, any);
    if (typeof pair !== 'string') targets.set(pair.source, new Set([...(targets.get(pair.source) ?? []), ...pair.targets]));
  }
  return targets;
}

/** What is wrong with an entry, as a message for operators. With `any`, `*` is allowed. */
export function faultOfPair(entry: string, table: LanguageTable, any = false): string | undefined {
  const pair = readPair(entry, table, any);
  return typeof pair === 'string' ? pair : undefined;
}

/** Tries each dash, because codes may contain one. With `any`, `*` is any source or target. */
function readPair(entry: string, { sources, targets }: LanguageTable, any: boolean): PairPattern | string {
  const upper = entry.toUpperCase();
  let sourceFound: string | undefined;
  for (let dash = upper.indexOf('-'); dash !== -1; dash = upper.indexOf('-', dash + 1)) {
    const [source, target] = [upper.slice(0, dash), upper.slice(dash + 1)];
    const isAny = any && source === ANY;
    if (!isAny && !sources.some(({ code }) => code === source)) continue;
    sourceFound = source;
    const matching = targets
      .map(({ code }) => code)
      .filter((code) => code === target || code.startsWith(`${target}-`) || (any && target === ANY));
    if (matching.length > 0) return { source: isAny ? undefined : source, targets: matching };
  }
  if (sourceFound === undefined) {
    const form = any ? ', nor with *; write SOURCE-TARGET, such as EN-ES, *-ES or EN-*' : '; write SOURCE-TARGET, such as EN-ES';
    return `does not begin with a source code of the list of languages${form}`;
  }
  return `${upper.slice(sourceFound.length + 1) || 'nothing'} is neither a target code of the list of languages nor the base of one`;
}
