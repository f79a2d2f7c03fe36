// Which engines a request would go to, and why the others get no attempt.
import { isMet, offersPair, wantsOf } from './engine-offer.ts';
import type { OfferedEngine, Want } from './engine-offer.ts';
import { readRules, ruleFor } from './engine-routing.ts';
import type { RoutingRule } from './engine-routing.ts';
import type { LanguageTable } from './languages.ts';
import type { TranslationOptions } from './translation-options.ts';

/** How an engine is used for a request: which attempt it gets, or why it gets none. */
export interface ExplainedEngine {
  readonly engine: string;
  /** 1 or 2; `undefined` if it gets none. */
  readonly attempt: 1 | 2 | undefined;
  /** `rule`: not named by the rule; `behind`: two earlier engines take both attempts; otherwise what it cannot do. */
  readonly because: 'rule' | 'behind' | 'pair' | Want | undefined;
}

/** The index of the matching rule, and how each engine is used: first those of the rule, in its order. */
export function explainRoute(
  table: LanguageTable,
  engines: readonly OfferedEngine[],
  rules: readonly RoutingRule[] | undefined,
  request: { readonly plan: string | undefined; readonly options: TranslationOptions; readonly hasGlossary: boolean },
): { readonly rule: number | undefined; readonly engines: readonly ExplainedEngine[] } {
  const { plan, options, hasGlossary } = request;
  const read = readRules(rules, engines, table);
  const rule = ruleFor(read, plan, options.sourceLang, options.targetLang);
  const named = read[rule]?.engines ?? [];
  const wants = wantsOf(options, hasGlossary);
  const hasFormality = table.targets.some(({ code, formality }) => formality && code === options.targetLang);
  const cannot = (engine: OfferedEngine, want: Want): boolean => (want === 'formality' && !hasFormality) || !isMet(want, engine.can);
  let attempts = 0;
  const ofRule = named.map((name): ExplainedEngine => {
    const engine = engines.find((one) => one.name === name)!;
    const lack = offersPair(engine, options.sourceLang, options.targetLang, table) ? wants.find((want) => cannot(engine, want)) : 'pair';
    if (lack !== undefined) return { engine: name, attempt: undefined, because: lack };
    const attempt = ++attempts;
    if (attempt === 1 || attempt === 2) return { engine: name, attempt, because: undefined };
    return { engine: name, attempt: undefined, because: 'behind' };
  });
  const others = engines.filter(({ name }) => !named.includes(name));
  return {
    rule: rule === -1 ? undefined : rule,
    engines: [...ofRule, ...others.map(({ name }) => ({ engine: name, attempt: undefined, because: 'rule' as const }))],
  };
}
