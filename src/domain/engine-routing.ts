// The rules of `routing`: which engines a request goes to, by plan and language pair. The first matching rule decides.
import type { LanguageTable } from './languages.ts';
import { targetsBySource } from './pair-list.ts';

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
  /** `sourceLang` is `undefined` if the caller names none, which `*` matches and a code does not. Codes are canonical. */
  readonly fitsPair: (sourceLang: string | undefined, targetLang: string) => boolean;
}

/** The parsed rules, or a single catch-all rule if there are none. Pairs that are not in the table are skipped. */
export function readRules(
  rules: readonly RoutingRule[] | undefined,
  engines: readonly { readonly name: string }[],
  table: LanguageTable,
): readonly ReadRule[] {
  return (rules ?? [{ engines: engines.map(({ name }) => name) }]).map((rule): ReadRule => ({
    plans: rule.plans && new Set(rule.plans),
    engines: rule.engines,
    fitsPair: rule.pairs === undefined ? () => true : pairTest(rule.pairs, table),
  }));
}

function pairTest(pairs: readonly string[], table: LanguageTable): ReadRule['fitsPair'] {
  const targets = targetsBySource(pairs, table, true);
  const ofAny = targets.get(undefined);
  return (sourceLang, targetLang) =>
    ofAny?.has(targetLang) === true || (sourceLang !== undefined && targets.get(sourceLang)?.has(targetLang) === true);
}

/** Index of the first matching rule; -1 if none matches. A plan that no rule names is treated like `undefined`. */
export function ruleFor(rules: readonly ReadRule[], plan: string | undefined, sourceLang: string | undefined, targetLang: string): number {
  return rules.findIndex(
    ({ plans, fitsPair }) => (plans === undefined || (plan !== undefined && plans.has(plan))) && fitsPair(sourceLang, targetLang),
  );
}

/** The plans that rules name; teams of all other plans are treated alike. */
export function plansNamed(rules: readonly Pick<RoutingRule, 'plans'>[]): readonly string[] {
  return [...new Set(rules.flatMap(({ plans }) => [...(plans ?? [])]))];
}

/**
 * For each rule that can never match, the index of the one earlier rule that covers it completely; `undefined` if several cover
 * it together, or if it has no pairs.
 */
export function uselessRules(rules: readonly RoutingRule[], table: LanguageTable): ReadonlyMap<number, number | undefined> {
  const read = readRules(rules, [], table);
  const plans = [...plansNamed(rules), undefined];
  const sources = [...table.sources.map(({ code }) => code), undefined];
  const useless = new Map<number, number | undefined>();
  const taken = new Set<number>();
  for (const [index, rule] of read.entries()) {
    const would = cellsOf(rule, plans, sources, table);
    const all = would.every((cell) => taken.has(cell));
    for (const cell of would) taken.add(cell);
    if (!all) continue;
    const alone = read.slice(0, index).findIndex((before) => {
      const takes = new Set(cellsOf(before, plans, sources, table));
      return would.length > 0 && would.every((cell) => takes.has(cell));
    });
    useless.set(index, alone === -1 ? undefined : alone);
  }
  return useless;
}

/** Everything a rule would match on its own, as numbers that encode plan, source and target. */
function cellsOf(
  { plans: named, fitsPair }: ReadRule,
  plans: readonly (string | undefined)[],
  sources: readonly (string | undefined)[],
  { targets }: LanguageTable,
): number[] {
  const cells: number[] = [];
  for (const [p, plan] of plans.entries()) {
    if (named !== undefined && (plan === undefined || !named.has(plan))) continue;
    for (const [s, source] of sources.entries()) {
      for (const [t, { code }] of targets.entries()) {
        if (fitsPair(source, code)) cells.push((p * sources.length + s) * targets.length + t);
      }
    }
  }
  return cells;
}
