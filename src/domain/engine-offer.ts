// What one or several engines offer callers: languages, and for each pair the engines that a request goes to, in order.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { anyOf } from './engine-capabilities.ts';
import type { EngineCapabilities } from './engine-capabilities.ts';
import { plansNamed, readRules, ruleFor } from './engine-routing.ts';
import type { RoutingRule } from './engine-routing.ts';
import { Languages, withFormality } from './languages.ts';
import type { LanguageTable, PairTest } from './languages.ts';
import { noFormality, NO_GLOSSARIES, pairNotOffered } from './refusals.ts';
import { planSlot } from './slots.ts';
import type { StyleRules, TextFormat, TranslationOptions } from './translation-options.ts';

export interface OfferedEngine {
  readonly name: string;
  readonly can: EngineCapabilities;
  /** Which pairs it offers; `undefined` for all. */
  readonly pairs: PairTest | undefined;
}

interface WantKind {
  readonly isMet: (can: EngineCapabilities) => boolean;
  /** What is said of an engine that does not meet it, for operators. */
  readonly lack: string;
  /** The refusal if no engine meets it. */
  readonly refusal: (options: TranslationOptions) => Refusal;
}

/**
 * What a request may require that not every engine supports. `formality` stands for `more` or `less`; the `prefer_` forms
 * require nothing. `styles` stands for ids of style rules and translation memories.
 */
const WANTS = {
  formality: {
    isMet: (can) => can.formality,
    lack: 'does not support formality for this target',
    refusal: ({ formality = '' }) => noFormality(formality),
  },
  glossary: { isMet: (can) => can.glossaries, lack: 'takes no glossaries', refusal: () => NO_GLOSSARIES },
  instructions: {
    isMet: (can) => can.instructions,
    lack: 'takes no instructions',
    refusal: () => refuse('validation_error', 'instructions: the engine of this service takes none.'),
  },
  styles: {
    isMet: (can) => can.styles,
    lack: 'has no style rules or translation memories',
    refusal: () => refuse('validation_error', 'style: the engine of this service has no style rules or translation memories.'),
  },
  html: markup('html'),
  xml: markup('xml'),
} as const satisfies Readonly<Record<string, WantKind>>;

export type Want = keyof typeof WANTS;

function markup(name: Exclude<TextFormat, 'text'>): WantKind {
  return {
    isMet: ({ formats }) => formats.includes(name),
    lack: `does not support ${name}`,
    refusal: () => refuse('validation_error', `format: the engine of this service does not handle ${name}.`),
  };
}

export function isMet(want: Want, can: EngineCapabilities): boolean {
  return WANTS[want].isMet(can);
}

export function lackText(want: Want): string {
  return WANTS[want].lack;
}

/** Options that require nothing of an engine: pairs are judged apart, context is a hint, and ignored tags only come with `xml`. */
type Undemanding = 'sourceLang' | 'targetLang' | 'context' | 'ignoreTags';
type Demanding = Exclude<keyof TranslationOptions, Undemanding>;

const NOTHING: readonly Want[] = [];

/** What each of the other options requires, in the order in which it is refused. A new option is here or above. */
const REQUIRED_BY: {
  readonly [Option in Demanding]: (options: Pick<TranslationOptions, Option>, hasGlossary: boolean) => readonly Want[];
} = {
  formality: ({ formality }) => (formality === 'more' || formality === 'less' ? ['formality'] : NOTHING),
  glossary: (_options, hasGlossary) => (hasGlossary ? ['glossary'] : NOTHING),
  style: ({ style }) => (style === undefined ? NOTHING : wantsOfStyle(style)),
  format: ({ format }) => (format === 'text' ? NOTHING : [format]),
};
const DEMANDS = Object.values(REQUIRED_BY);

/**
 * What a request requires, in the order in which it is refused if no engine qualifies. Pass `hasGlossary` if the entries are
 * not known yet.
 */
export function wantsOf(options: TranslationOptions, hasGlossary = options.glossary !== undefined): readonly Want[] {
  let wants = NOTHING;
  for (const required of DEMANDS) {
    const more = required(options, hasGlossary);
    if (more.length > 0) wants = wants.length === 0 ? more : [...wants, ...more];
  }
  return wants;
}

export type StyleWant = Extract<Want, 'instructions' | 'styles'>;

export function wantsOfStyle({ instructions, styleId, memoryId, memoryThreshold }: StyleRules): readonly StyleWant[] {
  const wants: StyleWant[] = [];
  if (instructions !== undefined) wants.push('instructions');
  if (styleId !== undefined || memoryId !== undefined || memoryThreshold !== undefined) wants.push('styles');
  return wants;
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
    if (!this.#narrowed.has(want)) this.#narrowed.set(want, this.#narrow(want));
    return this.#narrowed.get(want);
  }

  /** The remaining route, or the first requirement that no engine on it meets. */
  withAll([want, ...others]: readonly Want[]): EngineRoute | Want {
    return want === undefined ? this : (this.with(want)?.withAll(others) ?? want);
  }

  #narrow(want: Want): EngineRoute | undefined {
    const able = this.engines.filter((engine) => isMet(want, engine.can));
    if (able.length === this.engines.length) return this;
    return able.length === 0 ? undefined : new EngineRoute(able);
  }
}

/** What the teams of a plan can reach. */
export class EngineOffer {
  /** The offered languages; a target has formality if it is available from at least one source. */
  readonly languages: Languages;
  /** What at least one of the engines can do. */
  readonly can: EngineCapabilities;
  /** The engines that detect languages, and the target language to use for detection. */
  readonly detection: { readonly names: readonly string[]; readonly targetLang: string } | undefined;
  readonly #routes: (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined;

  constructor(
    languages: Languages,
    engines: readonly OfferedEngine[],
    routes: (sourceLang: string | undefined, targetLang: string) => EngineRoute | undefined,
  ) {
    this.languages = languages;
    this.can = anyOf(engines.map(({ can }) => can));
    this.detection = detectionOf(languages.all, engines);
    this.#routes = routes;
  }

  /** For an offered pair; `sourceLang` is `undefined` if the caller names none. Codes are canonical. */
  route(sourceLang: string | undefined, targetLang: string): EngineRoute | undefined {
    return this.#routes(sourceLang, targetLang);
  }

  /**
   * What at least one of a pair's engines can do besides the wants given; of all engines if the pair is not offered, or if none
   * can do those.
   */
  canFor(sourceLang: string | undefined, targetLang: string, wants: readonly Want[] = []): EngineCapabilities {
    const route = this.#routes(sourceLang, targetLang);
    const left = wants.length === 0 ? route : route?.withAll(wants);
    return typeof left === 'object' ? left.can : this.can;
  }

  /** Whether `more` and `less` have an effect for an offered pair. */
  supportsFormality(targetLang: string, sourceLang: string | undefined): boolean {
    return this.languages.supportsFormality(targetLang) && this.#routes(sourceLang, targetLang)?.with('formality') !== undefined;
  }
}

/** The offers by plan. Replaced as a whole when something changes. */
export interface EngineOffers {
  /** What any plan can reach: for callers without a key, and before the plan is known. */
  readonly any: EngineOffer;
  /** Whether the offer depends on the plan. */
  readonly byPlan: boolean;
  /** Whether work must name its engines; `false` if there is one engine and no rules. */
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

/** What no eligible engine supports; `undefined` if one supports the whole request. `hasGlossary` as in `wantsOf`. */
export function lackOf(offer: EngineOffer, options: TranslationOptions, hasGlossary?: boolean): 'pair' | Want | undefined {
  const route = offer.route(options.sourceLang, options.targetLang);
  if (route === undefined) return 'pair';
  const wants = wantsOf(options, hasGlossary);
  if (wants.includes('formality') && !offer.languages.supportsFormality(options.targetLang)) return 'formality';
  const left = route.withAll(wants);
  return typeof left === 'string' ? left : undefined;
}

/** The refusal for something that no eligible engine supports. */
export function notAble(lack: 'pair' | Want, offer: EngineOffer, options: TranslationOptions): Refusal {
  if (lack === 'pair') return pairNotOffered(options.sourceLang, options.targetLang, offer.languages);
  return WANTS[lack].refusal(options);
}

/** For a single engine, independent of the plan. */
export function offersOfOne(table: LanguageTable, engine: OfferedEngine): EngineOffers {
  const languages = new Languages(withFormality(table, engine.can.formality), engine.pairs);
  const route = new EngineRoute([engine]);
  const any = new EngineOffer(languages, [engine], (source, target) => (languages.offers(source, target) ? route : undefined));
  return { any, byPlan: false, isRouted: false, of: () => any };
}

/** For several engines with rules; without `rules`, all of them in order. */
export function offersOfSeveral(
  table: LanguageTable,
  engines: readonly OfferedEngine[],
  rules: readonly RoutingRule[] | undefined,
): EngineOffers {
  const read = readRules(rules, engines, table);
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

/** Precomputes the route of every pair. */
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

/** Whether the engine can translate the pair, as far as is known. */
export function offersPair(
  { pairs }: OfferedEngine,
  sourceLang: string | undefined,
  targetLang: string,
  { sources }: LanguageTable,
): boolean {
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
