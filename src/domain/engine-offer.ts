// What callers are offered by one engine or several: languages, and for each pair the engines that a request goes to, in order.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { plansNamed, readRules, ruleFor } from './engine-routing.ts';
import type { RoutingRule } from './engine-routing.ts';
import { Languages, withFormality } from './languages.ts';
import type { LanguageTable, PairTest } from './languages.ts';
import { noFormality, NO_GLOSSARIES, pairNotOffered } from './refusals.ts';
import { planSlot } from './slots.ts';
import type { TextFormat, TranslationOptions } from './translation-options.ts';

/** What of an engine's capabilities decides which requests it gets. */
export interface OfferedCapabilities {
  readonly formats: readonly TextFormat[];
  readonly formality: boolean;
  readonly glossaries: boolean;
  readonly detection: boolean;
}

export interface OfferedEngine {
  readonly name: string;
  readonly can: OfferedCapabilities;
  /** Which pairs it offers; `undefined`: all. */
  readonly pairs: PairTest | undefined;
}

/** What a request asks for that not every engine can. `formality`: `more` or `less`; the `prefer_` forms ask for nothing. */
export type Want = 'formality' | 'glossary' | 'html' | 'xml';

/** What a request asks for, in the order in which it is refused where nobody can. `glossary` also where its entries are not known yet. */
export function wantsOf({ formality, glossary, format }: TranslationOptions, hasGlossary = glossary !== undefined): readonly Want[] {
  if (formality === undefined && !hasGlossary && format === 'text') return NOTHING;
  const wants: Want[] = [];
  if (formality === 'more' || formality === 'less') wants.push('formality');
  if (hasGlossary) wants.push('glossary');
  if (format !== 'text') wants.push(format);
  return wants;
}

const NOTHING: readonly Want[] = [];

export function isAble({ can }: Pick<OfferedEngine, 'can'>, want: Want): boolean {
  if (want === 'formality') return can.formality;
  if (want === 'glossary') return can.glossaries;
  return can.formats.includes(want);
}

/** The engines that may do a request's work, in the order in which they are tried; at least one. */
export class EngineRoute {
  readonly engines: readonly OfferedEngine[];
  readonly names: readonly string[];
  /** What at least one of them can. */
  readonly can: OfferedCapabilities;
  readonly #narrowed = new Map<Want, EngineRoute | undefined>();

  constructor(engines: readonly OfferedEngine[]) {
    this.engines = engines;
    this.names = engines.map(({ name }) => name);
    this.can = unionOf(engines);
  }

  /** Without those that cannot do this; `undefined` when none is left. */
  with(want: Want): EngineRoute | undefined {
    // Kept, so that a request makes nothing.
    if (!this.#narrowed.has(want)) this.#narrowed.set(want, this.#narrow(want));
    return this.#narrowed.get(want);
  }

  /** The route that is left, or the first want that nobody on it can do. */
  withAll([want, ...others]: readonly Want[]): EngineRoute | Want {
    return want === undefined ? this : (this.with(want)?.withAll(others) ?? want);
  }

  #narrow(want: Want): EngineRoute | undefined {
    const able = this.engines.filter((engine) => isAble(engine, want));
    if (able.length === this.engines.length) return this;
    return able.length === 0 ? undefined : new EngineRoute(able);
  }
}

/** What the teams of a plan can reach. */
export class EngineOffer {
  /** The lists hold what is offered; a target has formality if it can be had from some source. */
  readonly languages: Languages;
  /** What at least one of the engines can. */
  readonly can: OfferedCapabilities;
  /** Engines that tell what language a text is in, and the target to have it translated to for that. */
  readonly detection: { readonly names: readonly string[]; readonly targetLang: string } | undefined;
  readonly #routes: (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined;

  constructor(
    languages: Languages,
    engines: readonly OfferedEngine[],
    routes: (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined,
  ) {
    this.languages = languages;
    this.can = unionOf(engines);
    this.detection = detectionOf(languages.all, engines);
    this.#routes = routes;
  }

  /** For a pair that is offered; `sourceLang` is `undefined` where the caller names none. Codes are canonical. */
  route(sourceLang: string | undefined, targetLang: string): EngineRoute | undefined {
    return this.#routes(sourceLang, targetLang);
  }

  /** What at least one of the engines of a pair can; of all where the pair is not offered. */
  canFor(sourceLang: string | undefined, targetLang: string): OfferedCapabilities {
    return this.#routes(sourceLang, targetLang)?.can ?? this.can;
  }

  /** Whether `more` and `less` mean something for a pair that is offered. */
  supportsFormality(targetLang: string, sourceLang: string | undefined): boolean {
    return this.languages.supportsFormality(targetLang) && this.#routes(sourceLang, targetLang)?.with('formality') !== undefined;
  }
}

/** What is offered, by plan. Replaced as a whole when something changes. */
export interface EngineOffers {
  /** What any plan can reach: for whoever has no key, and before the plan is known. */
  readonly any: EngineOffer;
  /** Whether it depends on the plan. */
  readonly byPlan: boolean;
  /** Whether work has to be told where it may go; `false` where there is one engine and no rule. */
  readonly isRouted: boolean;
  /** What the teams of a plan can reach; `undefined` where it is not known. */
  of(plan: string | undefined): EngineOffer;
}

/** What the team that asks can reach; before its plan is known, what any can. */
export function offerFor(x: Exchange, offers: EngineOffers): EngineOffer {
  return offers.byPlan ? offers.of(x.get(planSlot)) : offers.any;
}

/** What of a request no engine that it may go to can do; `undefined` where one can do all of it. `hasGlossary` as in `wantsOf`. */
export function lackOf(offer: EngineOffer, options: TranslationOptions, hasGlossary?: boolean): 'pair' | Want | undefined {
  const route = offer.route(options.sourceLang, options.targetLang);
  if (route === undefined) return 'pair';
  const left = route.withAll(wantsOf(options, hasGlossary));
  return typeof left === 'string' ? left : undefined;
}

/** For what no engine can do to which the request may go. */
export function notAble(lack: 'pair' | Want, offer: EngineOffer, options: TranslationOptions): Refusal {
  switch (lack) {
    case 'pair':
      return pairNotOffered(options.sourceLang, options.targetLang, offer.languages);
    case 'formality':
      return noFormality(options.formality ?? '');
    case 'glossary':
      return NO_GLOSSARIES;
    case 'html':
    case 'xml':
      return refuse('validation_error', `format: the engine of this service does not handle ${lack}.`);
  }
}

/** One engine, whoever asks. */
export function offersOfOne(table: LanguageTable, engine: OfferedEngine): EngineOffers {
  const languages = new Languages(withFormality(table, engine.can.formality), engine.pairs);
  const route = new EngineRoute([engine]);
  const any = new EngineOffer(languages, [engine], (source, target) => (languages.offers(source, target) ? route : undefined));
  return { any, byPlan: false, isRouted: false, of: () => any };
}

/** Several engines by rules; without `rules` all of them in their order. */
export function offersOfSeveral(
  table: LanguageTable,
  engines: readonly OfferedEngine[],
  rules: readonly RoutingRule[] | undefined,
): EngineOffers {
  const read = readRules(
    rules,
    engines.map(({ name }) => name),
    table,
  );
  const named = new Map(engines.map((engine) => [engine.name, engine]));
  const made = new Map<string, EngineRoute>();
  const route = (able: readonly OfferedEngine[]): EngineRoute | undefined => {
    if (able.length === 0) return undefined;
    const key = able.map(({ name }) => name).join(' ');
    const known = made.get(key) ?? new EngineRoute(able);
    made.set(key, known);
    return known;
  };
  const enginesFor = (plan: string | undefined, source: string | undefined, target: string): readonly OfferedEngine[] => {
    const names = read[ruleFor(read, plan, source, target)]?.engines ?? [];
    return names.flatMap((name) => named.get(name) ?? []).filter((engine) => offersPair(engine, source, target, table));
  };
  const plans = plansNamed(rules ?? []);
  const others = offerOf(table, engines, (source, target) => route(enginesFor(undefined, source, target)));
  if (plans.length === 0) return { any: others, byPlan: false, isRouted: true, of: () => others };
  const byPlan = new Map(plans.map((plan) => [plan, offerOf(table, engines, (source, target) => route(enginesFor(plan, source, target)))]));
  const any = offerOf(table, engines, (source, target) =>
    route([...new Set([...plans, undefined].flatMap((plan) => enginesFor(plan, source, target)))]),
  );
  return { any, byPlan: true, isRouted: true, of: (plan) => (plan === undefined ? any : (byPlan.get(plan) ?? others)) };
}

/** Every pair's route is looked up once, here. */
function offerOf(
  table: LanguageTable,
  all: readonly OfferedEngine[],
  find: (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined,
): EngineOffer {
  const routes = new Map(
    [...table.sources.map(({ code }) => code), undefined].map((source) => [
      source,
      new Map(table.targets.map(({ code }) => [code, find(source, code)])),
    ]),
  );
  const routeOf = (source: string | undefined, target: string): EngineRoute | undefined => routes.get(source)?.get(target);
  const targets = table.targets.map((target) => ({
    ...target,
    formality: target.formality && [...routes.values()].some((of) => of.get(target.code)?.with('formality') !== undefined),
  }));
  const languages = new Languages(
    { sources: table.sources, targets },
    (source, target) => routeOf(source, target) !== undefined,
    (target) => routeOf(undefined, target) !== undefined,
  );
  const reached = new Set([...routes.values()].flatMap((of) => [...of.values()]).flatMap((route) => route?.engines ?? []));
  return new EngineOffer(
    languages,
    all.filter((engine) => reached.has(engine)),
    routeOf,
  );
}

function offersPair({ pairs }: OfferedEngine, sourceLang: string | undefined, targetLang: string, { sources }: LanguageTable): boolean {
  if (pairs === undefined) return true;
  return sourceLang === undefined ? sources.some(({ code }) => pairs(code, targetLang)) : pairs(sourceLang, targetLang);
}

function unionOf(engines: readonly OfferedEngine[]): OfferedCapabilities {
  const some = (able: (can: OfferedCapabilities) => boolean): boolean => engines.some(({ can }) => able(can));
  return {
    formats: [...new Set(engines.flatMap(({ can }) => can.formats))],
    formality: some(({ formality }) => formality),
    glossaries: some(({ glossaries }) => glossaries),
    detection: some(({ detection }) => detection),
  };
}

/** More engines translate into English than into any other language. */
function detectionOf(table: LanguageTable, engines: readonly OfferedEngine[]): EngineOffer['detection'] {
  const able = engines.filter(({ can }) => can.detection);
  const [first] = able;
  if (first === undefined) return undefined;
  const codes = table.targets.map(({ code }) => code);
  const offered = codes.filter((code) => offersPair(first, undefined, code, table));
  const list = offered.length === 0 ? codes : offered;
  const targetLang = list.find((code) => code === 'EN' || code.startsWith('EN-')) ?? list[0];
  return targetLang === undefined ? undefined : { names: able.map(({ name }) => name), targetLang };
}

/** What one engine is to a request: an attempt it gets, or why it gets none. */
export interface ExplainedEngine {
  readonly engine: string;
  /** 1 or 2; `undefined` where it gets none. */
  readonly attempt: 1 | 2 | undefined;
  /** `rule`: the rule does not name it; `behind`: two before it have the attempts; else what it cannot do. */
  readonly because: 'rule' | 'behind' | 'pair' | Want | undefined;
}

/** The rule that a request fits, by its index, and what each engine is to it: those of the rule first, in its order. */
export function explainRoute(
  table: LanguageTable,
  engines: readonly OfferedEngine[],
  rules: readonly RoutingRule[] | undefined,
  request: { readonly plan: string | undefined; readonly options: TranslationOptions; readonly hasGlossary: boolean },
): { readonly rule: number | undefined; readonly engines: readonly ExplainedEngine[] } {
  const { plan, options, hasGlossary } = request;
  const read = readRules(
    rules,
    engines.map(({ name }) => name),
    table,
  );
  const rule = ruleFor(read, plan, options.sourceLang, options.targetLang);
  const named = read[rule]?.engines ?? [];
  const wants = wantsOf(options, hasGlossary);
  let attempts = 0;
  const ofRule = named.map((name): ExplainedEngine => {
    const engine = engines.find((one) => one.name === name)!;
    const lack = offersPair(engine, options.sourceLang, options.targetLang, table) ? wants.find((want) => !isAble(engine, want)) : 'pair';
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
