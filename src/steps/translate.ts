// Has texts translated: by which engines, with which glossary, through the plugins' stages and back, and what the engine's result
// means for the request. The same for `/v1/translate` and for plugins' steps.
import { reserveSlot, SharedCancellation } from '../core/exchange.ts';
import type { Cancellation, Exchange } from '../core/exchange.ts';
import { andThen, json, LATER } from '../core/outcome.ts';
import type { Outcome, Refusal, StepResult } from '../core/outcome.ts';
import type { BodyStep } from '../core/step.ts';
import { countCharacters } from '../domain/characters.ts';
import {
  chargeSlot,
  spareCharacters,
  dictionaryIdSlot,
  keyOwnerSlot,
  noteFailure,
  requestStatsSlot,
  traceSlot,
  translateRequestSlot,
} from '../domain/slots.ts';
import { notAble, offerFor, routeFor } from '../domain/engine-offer.ts';
import type { CurrentOffers } from '../domain/engine-offer.ts';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import {
  ENGINE_UNAVAILABLE,
  GLOSSARY_NOT_TAKEN,
  NO_DETECTION,
  NO_SUCH_GLOSSARY,
  pairNotOffered,
  SOURCE_LANG_NEEDED,
  STORE_UNAVAILABLE,
} from '../domain/refusals.ts';
import { laterWorkId } from '../domain/ulid.ts';
import type { AttemptsTrace, PassTraceparent } from '../domain/request-trace.ts';
import { traceparentForward } from '../domain/request-trace.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { passStages } from '../domain/text-stages.ts';
import type { PassedTexts, TextStage, Translations } from '../domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type {
  AskedWork,
  AttemptFailure,
  Engine,
  EngineResult,
  EngineWork,
  FailureDetail,
  TakesGlossary,
  Translation,
} from '../ports/engine.ts';
import type { GatewayServices, TranslationOrder } from '../ports/gateway-services.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';

/** What translating needs of the gateway. */
export interface TranslateOptions {
  readonly engine: Engine;
  readonly takesGlossary: TakesGlossary;
  /** Whether an engine has used up its characters; `undefined` if none is limited. */
  readonly isSpent?: ((engine: string) => boolean) | undefined;
  readonly glossaries: GlossaryCache;
  readonly offers: CurrentOffers;
  /** The plugins' stages in front of the engine. */
  readonly stages: readonly TextStage[];
  /** What engines get of a caller's `traceparent` if the request is not traced; by default its trace and flags. */
  readonly passTraceparent?: PassTraceparent | undefined;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called with the failures of a request's attempts, in fixed words, if there were any. */
  readonly onFailures: (failures: readonly AttemptFailure[]) => void;
}

/** What is to be translated, or whose language is to be detected. */
type WorkOrder = TranslationOrder & Pick<EngineWork, 'detectionOnly'>;

const ATTEMPTS = 2;
/** The name of the only engine, as a list. */
const ONE_ENGINE: readonly string[] = [ONLY_ENGINE];
const NONE: readonly Translation[] = [];
const NOTHING_SPARED: ReadonlySet<number> = new Set();

export function translateStep(by: TranslateOptions): BodyStep {
  return {
    kind: 'body',
    name: 'translate',
    headers: ['traceparent'],
    run: (x) => andThen(ordered(x, x.need(translateRequestSlot), by, goOn), toEngine),
  };
}

function toEngine(work: Work | Refusal): StepResult | Promise<StepResult> {
  if ('problem' in work) return work;
  // The stages have answered all of it.
  if (work.text.length === 0) return concluded(work.x, work);
  const refusal = work.unserved();
  if (refusal !== undefined) return refusal;
  work.by.engine.translate(work, work.x);
  return LATER;
}

/** Not inline: a closure for each request would cost more. */
function goOn(work: Work): void {
  work.x.resume(concluded, work);
}

function concluded(_x: Exchange, work: Work): Outcome | Promise<Outcome> {
  const translations = work.finished();
  return translations instanceof Promise ? translations.then((late) => answerOf(work, late)) : answerOf(work, translations);
}

function answerOf({ x, order, by }: Work, translations: Translations): Outcome {
  if ('problem' in translations) return translations;
  const { languages } = by.offers.current.any;
  // The engine's code, if it is one that we list; otherwise the one that the caller gave.
  const shown = translations.map(({ text, detectedSourceLanguage }) => ({
    detected_source_language: languages.base(detectedSourceLanguage) ?? order.options.sourceLang,
    text,
  }));
  return json(JSON.stringify({ translations: shown, billed_characters: x.need(requestStatsSlot).characters }));
}

/** For plugins' steps, which await a promise, make an answer of the result, and may have several works in flight. */
export function translateBy(by: TranslateOptions): GatewayServices['translate'] {
  return async (x, order) => {
    const { languages } = by.offers.current.any;
    const { sourceLang, targetLang } = order.options;
    // A route with its own parameters should have refused it before the admission; at least it is not sent.
    if (!languages.offers(sourceLang, targetLang)) return pairNotOffered(sourceLang, targetLang, languages);
    const translations = await awaited((onDone) => ordered(x, order, by, onDone));
    if ('problem' in translations) return translations;
    const withLanguage = (translation: Translation): Translation => ({
      ...translation,
      detectedSourceLanguage: languages.base(translation.detectedSourceLanguage) ?? sourceLang,
    });
    return { kind: 'translated', translations: translations.map(withLanguage) };
  };
}

/** Has the engine detect the language of texts. */
export function detectBy(by: TranslateOptions): GatewayServices['detect'] {
  return async (x, texts) => {
    const offers = by.offers.current;
    const { languages, detection: able } = offerFor(x, offers);
    if (able === undefined) return NO_DETECTION;
    const order: WorkOrder = {
      text: texts,
      options: { ...NOTHING_CHOSEN, targetLang: able.targetLang },
      glossaryId: undefined,
      detectionOnly: true,
    };
    const engines = offers.isRouted ? detecting(able.names, by) : undefined;
    const translations = await awaited((onDone) => staged(x, order, undefined, engines, by, onDone));
    if ('problem' in translations) return translations;
    return { kind: 'detected', languages: translations.map(({ detectedSourceLanguage }) => languages.base(detectedSourceLanguage)) };
  };
}

async function awaited(begin: (onDone: (work: Work) => void) => MaybeWork | Promise<MaybeWork>): Promise<Translations> {
  const { promise, resolve } = Promise.withResolvers<Work>();
  const work = await begin(resolve);
  if ('problem' in work) return work;
  if (work.text.length === 0) return work.finished();
  if (work.detectionOnly === true) work.text = beginnings(work.text);
  const refusal = work.unserved();
  if (refusal !== undefined) return refusal;
  work.by.engine.translate(work, shareOf(work.x));
  return (await promise).finished();
}

/**
 * For all texts of a detection together: enough to recognize a language. More would cost the operator, because detection is
 * free of charge.
 */
const DETECTION_UNITS_MAX = 1000;
/** For each text, however many there are: less would be a guess. */
const DETECTION_UNITS_MIN = 100;

function beginnings(texts: readonly string[]): readonly string[] {
  const units = Math.max(DETECTION_UNITS_MIN, Math.floor(DETECTION_UNITS_MAX / texts.length));
  return texts.map((text) => text.slice(0, units).toWellFormed());
}

const sharedCancellationSlot = reserveSlot<SharedCancellation>('cancellation of several works');

/** If the caller disconnects, all works of the request are cancelled. */
function shareOf(x: Exchange): Cancellation {
  let shared = x.get(sharedCancellationSlot);
  if (shared === undefined) x.set(sharedCancellationSlot, (shared = new SharedCancellation(x)));
  return shared.share();
}

type MaybeWork = Work | Refusal;
/** Names of engines in the order to try them; `undefined` for the only one there is. */
type ChosenEngines = readonly string[] | undefined;

/** The work of an order, ready for the engine, with its glossary and the engines that may do it; a promise only if something has to be fetched. */
function ordered(x: Exchange, order: WorkOrder, by: TranslateOptions, onDone: (work: Work) => void): MaybeWork | Promise<MaybeWork> {
  const { glossaryId, options } = order;
  const hasGlossary = glossaryId !== undefined || options.glossary !== undefined;
  let engines: ChosenEngines;
  if (by.offers.current.isRouted) {
    const offer = offerFor(x, by.offers.current);
    const route = routeFor(offer, options, hasGlossary);
    if (typeof route === 'string') return notAble(route, offer, options);
    engines = options.sourceLang === undefined ? detecting(route.names, by) : route.names;
  }
  if (!hasGlossary) return staged(x, order, undefined, engines, by, onDone);
  return andThen(glossaryOf(x, order, by), (glossary) => {
    if ('problem' in glossary) return glossary;
    // A promise only if one of the engines has not seen the dictionary before.
    const names = engines ?? ONE_ENGINE;
    const takes = names.map((name) => by.takesGlossary(name, glossary, options));
    const known = takes.some((one) => one instanceof Promise) ? Promise.all(takes.map(async (one) => one)) : (takes as readonly boolean[]);
    return andThen(known, (found) => {
      if (!found.some(Boolean)) return GLOSSARY_NOT_TAKEN;
      return staged(x, order, glossary, found.every(Boolean) ? engines : names.filter((_name, i) => found[i]), by, onDone);
    });
  });
}

/** Those that are not known to detect no languages; all of them if none is left. */
function detecting(names: readonly string[], { engine }: TranslateOptions): readonly string[] {
  const able = names.some((name) => engine.cannotDetect?.(name)) ? names.filter((name) => engine.cannotDetect?.(name) !== true) : names;
  return able.length === 0 ? names : able;
}

/** Those of the engines that have characters left, and the texts after the plugins' stages. */
function staged(
  x: Exchange,
  order: WorkOrder,
  glossary: EngineGlossary | undefined,
  engines: ChosenEngines,
  by: TranslateOptions,
  onDone: (work: Work) => void,
): MaybeWork | Promise<MaybeWork> {
  const { isSpent } = by;
  let left = engines;
  if (isSpent !== undefined && (engines ?? ONE_ENGINE).some(isSpent)) {
    left = (engines ?? ONE_ENGINE).filter((name) => !isSpent(name));
    if (left.length === 0) return ENGINE_UNAVAILABLE;
  }
  const work = new Work(x, order, glossary, left, by, onDone);
  return by.stages.length === 0 ? work : andThen(work.pass(), (refusal) => refusal ?? work);
}

/** The dictionary that the admission has found in the glossary which the order names, or the order's own. */
function glossaryOf(x: Exchange, order: WorkOrder, by: TranslateOptions): EngineGlossary | Refusal | Promise<EngineGlossary | Refusal> {
  const { glossaryId, options } = order;
  if (glossaryId === undefined) return options.glossary!;
  const startedAtMs = by.now();
  const charged = x.get(chargeSlot)?.glossary;
  const { sourceLang = '', targetLang } = options;
  const reference = charged?.glossaryId === glossaryId ? charged : { glossaryId, sourceLang, targetLang };
  const found = by.glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, x.get(dictionaryIdSlot));
  const isFetched = found instanceof Promise;
  return andThen(found, (dictionary) => {
    if (isFetched) x.need(requestStatsSlot).storeMs += by.now() - startedAtMs;
    // Deleted since the admission found it.
    if (dictionary === undefined) return NO_SUCH_GLOSSARY;
    return isUnavailable(dictionary) ? STORE_UNAVAILABLE : dictionary;
  });
}

/** A single object per piece of work: the request to the engine, its callback, and the context for its result. */
class Work implements AskedWork {
  readonly requestId: string;
  readonly teamId: string | undefined;
  text: readonly string[];
  readonly options: TranslationOptions;
  readonly traceparent: string | undefined;
  readonly trace: AttemptsTrace | undefined;
  readonly attemptMs: number | undefined;
  readonly detectionOnly: boolean | undefined;
  readonly engines: ChosenEngines;
  readonly x: Exchange;
  readonly order: WorkOrder;
  readonly by: TranslateOptions;
  startedAtMs: number;
  #passed: PassedTexts | undefined = undefined;
  /** Indexes of the order's texts that are not charged. */
  #spared: ReadonlySet<number> = NOTHING_SPARED;
  #result: EngineResult | undefined = undefined;
  readonly #onDone: (work: Work) => void;

  /** `onDone` is called when the engine has answered; it must not throw. */
  constructor(
    x: Exchange,
    order: WorkOrder,
    glossary: EngineGlossary | undefined,
    engines: ChosenEngines,
    by: TranslateOptions,
    onDone: (work: Work) => void,
  ) {
    const { options } = order;
    const works = ++x.need(requestStatsSlot).works;
    // The request's own id for its first work; later ones get a numeric suffix, so that answers cannot be confused.
    this.requestId = works === 1 ? x.id : laterWorkId(x.id, works);
    this.teamId = x.get(keyOwnerSlot)?.teamId;
    this.text = order.text;
    this.options = glossary === undefined ? options : { ...options, glossary };
    const traceparent = x.head.headers['traceparent'];
    this.traceparent = traceparent === undefined ? undefined : (by.passTraceparent ?? traceparentForward)(traceparent);
    this.trace = x.get(traceSlot);
    this.attemptMs = order.attemptMs;
    this.detectionOnly = order.detectionOnly;
    this.engines = engines;
    this.x = x;
    this.order = order;
    this.by = by;
    this.startedAtMs = by.now();
    this.#onDone = onDone;
  }

  attemptFailed({ failure, cause, status }: FailureDetail): void {
    // A caller who has left is no failure of the engine's.
    if (failure === 'cancelled') return;
    const detail = cause ?? (failure === 'status' ? status : undefined);
    noteFailure(this.x.need(requestStatsSlot), detail === undefined ? failure : `${failure}:${detail}`);
  }

  answered(result: EngineResult): void {
    this.#result = result;
    this.#onDone(this);
  }

  /** Runs the texts through the plugins' stages; `text` then contains those left for the engine. */
  pass(): Refusal | undefined | Promise<Refusal | undefined> {
    const { x, teamId, text, options, detectionOnly } = this;
    const engines = this.engines ?? ONE_ENGINE;
    const instead = engines.length > 1 && this.by.engine.isFailing?.(engines[0]!) === true;
    const expected = engines[instead ? 1 : 0]!;
    const work = { x, teamId, text, options, engines, expected, detectionOnly: detectionOnly === true };
    return andThen(passStages(work, this.by.stages), (passed) => this.#hasPassed(passed));
  }

  #hasPassed(passed: PassedTexts | Refusal): Refusal | undefined {
    if ('problem' in passed) return passed;
    // The engine is not waited for before.
    this.startedAtMs = this.by.now();
    this.#passed = passed;
    if (passed.spared.length > 0) this.#spared = this.#spare(passed.spared);
    this.text = passed.work.text;
    return undefined;
  }

  #spare(known: readonly number[]): ReadonlySet<number> {
    const { text, charged } = this.order;
    return new Set(known.filter((i) => spareCharacters(this.x, charged?.[i] ?? countCharacters(text[i]!))));
  }

  /** The translations, once the engine has answered or was not needed. Also updates the request's stats. Call it once. */
  finished(): Translations | Promise<Translations> {
    const result = this.#result;
    if (result !== undefined) {
      const { engines = ONE_ENGINE } = this;
      const { failures } = result;
      const stats = this.x.need(requestStatsSlot);
      // Several works overlap, so the durations are not added up; the attempts are.
      stats.engineMs = Math.max(stats.engineMs, this.by.now() - this.startedAtMs);
      stats.attempts += failures.length + (result.kind === 'usable' ? 1 : 0);
      // A single failed attempt went to the first engine; after two, the last was the second engine, if there is one.
      if (result.kind === 'usable') stats.engine = result.engine;
      else if (failures.length > 0) stats.engine = engines[Math.min(failures.length, engines.length) - 1];
      if (failures.length > 0) this.by.onFailures(failures);
      if (result.kind !== 'usable') return this.#failed(failures);
    }
    const translations = result?.translations ?? NONE;
    if (this.#passed === undefined) return translations;
    return andThen(this.#passed.back(translations, result?.engine), (back) => this.#marked(back));
  }

  /** The refusal of work that no engine could do, because none detects languages: known from other requests, without a call. */
  unserved(): Refusal | undefined {
    if (this.options.sourceLang !== undefined) return undefined;
    return (this.engines ?? ONE_ENGINE).every((name) => this.by.engine.cannotDetect?.(name) === true) ? this.#languageNeeded : undefined;
  }

  /** What no later attempt would change is told as such. */
  #failed(failures: readonly AttemptFailure[]): Refusal {
    if (this.#lacksDetection(failures)) return this.#languageNeeded;
    const isRefused = failures.length > 0 && failures.every((failure) => failure === 'glossary_refused');
    return isRefused ? GLOSSARY_NOT_TAKEN : ENGINE_UNAVAILABLE;
  }

  /** Every attempt failed for that reason, and there is no further engine that may detect. */
  #lacksDetection(failures: readonly AttemptFailure[]): boolean {
    if (failures.length === 0 || !failures.every((failure) => failure === 'no_detection')) return false;
    return (this.engines ?? ONE_ENGINE).slice(ATTEMPTS).every((name) => this.by.engine.cannotDetect?.(name) === true);
  }

  get #languageNeeded(): Refusal {
    return this.detectionOnly === true ? NO_DETECTION : SOURCE_LANG_NEEDED;
  }

  #marked(translations: Translations): Translations {
    if ('problem' in translations || this.#spared.size === 0) return translations;
    return translations.map((translation, i) => (this.#spared.has(i) ? { ...translation, isSpared: true } : translation));
  }
}
