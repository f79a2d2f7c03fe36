// What engines offer callers: what each can do, the languages, and for each pair the engines that a
// request goes to, in order.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { ONLY_ENGINE, plansNamed, readRules, ruleFor } from './engine-routing.ts';
import type { RoutingRule } from './engine-routing.ts';
import { Languages } from './languages.ts';
import type { LanguageTable, PairTest } from './languages.ts';
import { pairNotOffered } from './refusals.ts';
import { planSlot } from './slots.ts';
import { anyOf, WANTS, wantsOf } from './translation-options.ts';
import type { EngineCapabilities, TranslationOptions, Want } from './translation-options.ts';

export interface OfferedEngine {
  readonly name: string;
  readonly can: EngineCapabilities;
  /** Which pairs it offers; `undefined` for all. */
  readonly pairs: PairTest | undefined;
}

/** The engines for a request, in the order to try them; at least one. */
export class EngineRoute {
  readonly engines: readonly OfferedEngine[];
  readonly names: readonly string[];
  /** What at least one of them can do. */
  readonly can: EngineCapabilities;
  readonly #narrowed = new Map<Want, EngineRoute | undefined>();

  constructor(engines: readonly OfferedEngine[]) {
    this.engines = engines;
    this.names = engines.map(({ name }) => name);
    this.can = anyOf(engines.map(({ can }) => can));
  }

  /** The route without engines that lack this capability; `undefined` if none is left. */
  with(want: Want): EngineRoute | undefined {
    // Cached, so that requests allocate nothing.
    if (!this.#narrowed.has(want)) {
      const able = this.engines.filter(({ can }) => WANTS[want].isMet(can));
      const isSame = able.length === this.engines.length;
      this.#narrowed.set(want, isSame ? this : able.length === 0 ? undefined : new EngineRoute(able));
    }
    return this.#narrowed.get(want);
  }

  /** The remaining route, or the first requirement that no engine on it meets. */
  withAll(wants: readonly Want[], from = 0): EngineRoute | Want {
    const want = wants[from];
    return want === undefined ? this : (this.with(want)?.withAll(wants, from + 1) ?? want);
  }
}

type FindRoute = (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined;

/** What the teams of a plan can reach. */
export class EngineOffer {
  /** The offered languages; a target has formality if it is available from at least one source. */
  readonly languages: Languages;
  /** What at least one of the engines can do. */
  readonly can: EngineCapabilities;
  /** The engines that detect languages, and the target language to use for detection. */
  readonly detection: { readonly names: readonly string[]; readonly targetLang: string } | undefined;
  /** For an offered pair, canonical; `sourceLang` is `undefined` if the caller names none. */
  readonly route: FindRoute;

  /** Of these engines, by the route of each pair, which is found once. */
  constructor(table: LanguageTable, engines: readonly OfferedEngine[], find: FindRoute) {
    const sources = [...table.sources.map(({ code }) => code), undefined];
    const routes = new Map(sources.map((source) => [source, new Map(table.targets.map(({ code }) => [code, find(source, code)]))]));
    this.route = (source, target) => routes.get(source)?.get(target);
    const hasFormality = (target: string) => sources.some((source) => this.route(source, target)?.with('formality') !== undefined);
    const targets = table.targets.map((one) => ({ ...one, formality: one.formality && hasFormality(one.code) }));
    this.languages = new Languages({ sources: table.sources, targets }, (source, target) => this.route(source, target) !== undefined);
    const reached = new Set([...routes.values()].flatMap((of) => [...of.values()]).flatMap((route) => route?.engines ?? []));
    const able = engines.filter((engine) => reached.has(engine));
    this.can = anyOf(able.map(({ can }) => can));
    this.detection = detectionOf(table, able);
  }

  /** What one of a pair's engines can do besides these wants; of all engines if there is none. */
  canFor(sourceLang: string | undefined, targetLang: string, wants: readonly Want[] = []): EngineCapabilities {
    const left = this.route(sourceLang, targetLang)?.withAll(wants);
    return typeof left === 'object' ? left.can : this.can;
  }

  /** Whether `more` and `less` have an effect for an offered pair. */
  supportsFormality(targetLang: string, sourceLang: string | undefined): boolean {
    return this.languages.supportsFormality(targetLang) && this.route(sourceLang, targetLang)?.with('formality') !== undefined;
  }
}

/** The offers by plan. Replaced as a whole when something changes. */
export interface EngineOffers {
  /** What any plan can reach: for callers without a key, and before the plan is known. */
  readonly any: EngineOffer;
  /** Whether the offer depends on the plan. */
  readonly byPlan: boolean;
  /** Whether work must name its engines; `false` with one engine without a name, and no rules. */
  readonly isRouted: boolean;
  /** What the teams of a plan can reach; pass `undefined` if the plan is not known. */
  of(plan: string | undefined): EngineOffer;
}

/** Where the offers are read at each request, because a reload may replace them. */
export interface CurrentOffers {
  readonly current: EngineOffers;
}

/** What the requesting team can reach; before its plan is known, what any plan can. */
export function offerFor(x: Exchange, offers: EngineOffers): EngineOffer {
  return offers.byPlan ? offers.of(x.get(planSlot)) : offers.any;
}

/** The engines for a request, or what none of them supports. `hasGlossary` as in `wantsOf`. */
export function routeFor(offer: EngineOffer, options: TranslationOptions, hasGlossary?: boolean): EngineRoute | 'pair' | Want {
  const wants = wantsOf(options, hasGlossary);
  const route = offer.route(options.sourceLang, options.targetLang);
  if (route === undefined) return 'pair';
  if (wants.length === 0) return route;
  return wants[0] === 'formality' && !offer.languages.supportsFormality(options.targetLang) ? 'formality' : route.withAll(wants);
}

/** The refusal for something that no eligible engine supports. */
export function notAble(lack: 'pair' | Want, offer: EngineOffer, options: TranslationOptions): Refusal {
  if (lack === 'pair') return pairNotOffered(options.sourceLang, options.targetLang, offer.languages);
  return WANTS[lack].refusal(options);
}

/** The refusal of a request that no eligible engine supports as a whole. */
export function refusalFor(offer: EngineOffer, options: TranslationOptions, hasGlossary?: boolean): Refusal | undefined {
  const route = routeFor(offer, options, hasGlossary);
  return typeof route === 'string' ? notAble(route, offer, options) : undefined;
}

/** Of engines with rules; without `rules`, all of them in order. */
export function offersOf(table: LanguageTable, engines: readonly OfferedEngine[], rules: readonly RoutingRule[] | undefined): EngineOffers {
  const read = readRules(rules, engines, table);
  const plans = plansNamed(rules ?? []);
  const routes = new Map<string, EngineRoute>();
  /** For teams of any of these plans. */
  const offer = (of: readonly (string | undefined)[]): EngineOffer =>
    new EngineOffer(table, engines, (source, target) => {
      const names = of.flatMap((plan) => read[ruleFor(read, plan, source, target)]?.engines ?? []);
      const able = [...new Set(names)]
        .map((name) => engines.find((engine) => engine.name === name))
        .filter((engine) => engine !== undefined && offersPair(engine, source, target, table)) as OfferedEngine[];
      if (able.length === 0) return undefined;
      const key = able.map(({ name }) => name).join(' ');
      const route = routes.get(key) ?? new EngineRoute(able);
      routes.set(key, route);
      return route;
    });
  const others = offer([undefined]);
  const isRouted = rules !== undefined || engines.length !== 1 || engines[0]!.name !== ONLY_ENGINE;
  if (plans.length === 0) return { any: others, byPlan: false, isRouted, of: () => others };
  const byPlan = new Map(plans.map((plan) => [plan, offer([plan])]));
  const any = offer([...plans, undefined]);
  return { any, byPlan: true, isRouted, of: (plan) => (plan === undefined ? any : (byPlan.get(plan) ?? others)) };
}

/** Whether the engine can translate the pair, as far as is known. */
function offersPair({ pairs }: OfferedEngine, sourceLang: string | undefined, targetLang: string, { sources }: LanguageTable): boolean {
  if (pairs === undefined) return true;
  return sourceLang === undefined ? sources.some(({ code }) => pairs(code, targetLang)) : pairs(sourceLang, targetLang);
}

/** Prefers English, because more engines translate into English than into any other language. */
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

/** How an engine is used for a request: which attempt it gets, or why it gets none. */
export interface ExplainedEngine {
  readonly engine: string;
  /** 1 or 2; `undefined` if it gets none. */
  readonly attempt: 1 | 2 | undefined;
  /** `rule`: not named by it; `behind`: two others take both attempts; else what it cannot do. */
  readonly because: 'rule' | 'behind' | 'pair' | Want | undefined;
}

/** The matching rule's index, and how each engine is used: first the rule's, in its order. */
export function explainRoute(
  table: LanguageTable,
  engines: readonly OfferedEngine[],
  rules: readonly RoutingRule[] | undefined,
  request: { readonly plan: string | undefined; readonly options: TranslationOptions; readonly hasGlossary: boolean },
): { readonly rule: number | undefined; readonly engines: readonly ExplainedEngine[] } {
  const { sourceLang, targetLang } = request.options;
  const read = readRules(rules, engines, table);
  const rule = ruleFor(read, request.plan, sourceLang, targetLang);
  const named = read[rule]?.engines ?? [];
  let attempts = 0;
  const explained = (engine: OfferedEngine): Omit<ExplainedEngine, 'engine'> => {
    if (!named.includes(engine.name)) return { attempt: undefined, because: 'rule' };
    const route = routeFor(offersOf(table, [engine], undefined).any, request.options, request.hasGlossary);
    if (typeof route === 'string') return { attempt: undefined, because: route };
    const attempt = ++attempts;
    return attempt === 1 || attempt === 2 ? { attempt, because: undefined } : { attempt: undefined, because: 'behind' };
  };
  const order = [...named.map((name) => engines.find((engine) => engine.name === name)!), ...engines];
  return {
    rule: rule === -1 ? undefined : rule,
    engines: [...new Set(order)].map((engine) => ({ engine: engine.name, ...explained(engine) })),
  };
}
