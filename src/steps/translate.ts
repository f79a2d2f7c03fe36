// Hands the admitted request to the engine and turns usable translations into the answer; anything else becomes one refusal.
import { reserveSlot } from '../core/exchange.ts';
import type { Cancellation, Exchange } from '../core/exchange.ts';
import { json, LATER } from '../core/outcome.ts';
import type { Outcome, Refusal, StepResult } from '../core/outcome.ts';
import { SharedCancellation } from '../core/shared-cancellation.ts';
import { throwOn } from '../core/step.ts';
import type { BodyStep } from '../core/step.ts';
import { countCharacters } from '../domain/characters.ts';
import { chargeSlot, spareCharacters } from '../domain/charge.ts';
import type { GlossaryReference } from '../domain/charge.ts';
import { detecting, enginesFor, ONE_ENGINE, thoseThatTake, unspent } from '../domain/engine-choice.ts';
import type { ChosenEngines, TakesGlossary } from '../domain/engine-choice.ts';
import { offerFor } from '../domain/engine-offer.ts';
import type { CurrentOffers } from '../domain/engine-offer.ts';
import { laterWorkId } from '../domain/request-id.ts';
import { dictionaryIdSlot, keyOwnerSlot, noteFailure, requestStatsSlot, traceSlot, translateRequestSlot } from '../domain/slots.ts';
import {
  ENGINE_UNAVAILABLE,
  GLOSSARY_NOT_TAKEN,
  NO_DETECTION,
  NO_SUCH_GLOSSARY,
  pairNotOffered,
  SOURCE_LANG_NEEDED,
  STORE_UNAVAILABLE,
} from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { passStages } from '../domain/text-stages.ts';
import type { PassedTexts, TextStage } from '../domain/text-stages.ts';
import type { AttemptsTrace } from '../domain/request-trace.ts';
import { traceparentForward } from '../domain/traceparent.ts';
import type { PassTraceparent } from '../domain/traceparent.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type { AskedWork, AttemptFailure, Engine, EngineResult, EngineWork, FailureDetail, Translation } from '../ports/engine.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';
import type { GatewayServices, TranslationOrder } from '../ports/gateway-services.ts';

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

/** Translates an admitted request; the caller turns the result into an answer. */
export type Translate = GatewayServices['translate'];

/** Has the engine detect the language of texts. */
export type Detect = GatewayServices['detect'];

/** What the engine is asked to do; the rest of its work comes from the request. */
type WorkOrder = Pick<EngineWork, 'text' | 'options' | 'attemptMs' | 'detectionOnly'> & Pick<TranslationOrder, 'charged'>;

const ATTEMPTS = 2;
const NONE: readonly Translation[] = [];
const NOTHING_SPARED: ReadonlySet<number> = new Set();

/**
 * For all texts of a detection together: enough to recognize a language. More would cost the operator, because detection is
 * free of charge.
 */
const DETECTION_UNITS_MAX = 1000;
/** For each text, however many there are: less would be a guess. */
const DETECTION_UNITS_MIN = 100;

export function translateStep(options: TranslateOptions): BodyStep {
  return {
    kind: 'body',
    name: 'translate',
    headers: ['traceparent'],
    run(x) {
      const request = x.need(translateRequestSlot);
      if (request.glossaryId === undefined) return begin(x, request, undefined, options);
      const glossary = glossaryOf(x, request, request.glossaryId, options);
      return glossary instanceof Promise
        ? glossary.then((found) => begin(x, request, found, options))
        : begin(x, request, glossary, options);
    },
  };
}

function begin(
  x: Exchange,
  request: TranslateRequest,
  glossary: FoundGlossary | undefined,
  options: TranslateOptions,
): StepResult | Promise<StepResult> {
  if (glossary !== undefined && 'problem' in glossary) return glossary;
  const offers = options.offers.current;
  const engines = offers.isRouted ? enginesFor(x, request.options, glossary !== undefined, options) : undefined;
  if (engines !== undefined && 'problem' in engines) return engines;
  if (glossary === undefined) return start(x, request, glossary, engines, options);
  const taking = thoseThatTake(glossary, request.options, engines, options.takesGlossary);
  return taking instanceof Promise
    ? taking.then((left) => startWith(x, request, glossary, left, options))
    : startWith(x, request, glossary, taking, options);
}

function startWith(
  x: Exchange,
  request: TranslateRequest,
  glossary: EngineGlossary,
  engines: ChosenEngines | Refusal,
  options: TranslateOptions,
): StepResult | Promise<StepResult> {
  return engines !== undefined && 'problem' in engines ? engines : start(x, request, glossary, engines, options);
}

function start(
  x: Exchange,
  request: TranslateRequest,
  glossary: EngineGlossary | undefined,
  engines: ChosenEngines,
  options: TranslateOptions,
): StepResult | Promise<StepResult> {
  const left = unspent(engines, options.isSpent);
  if (left !== undefined && 'problem' in left) return left;
  const work = new PendingWork(x, request, glossary, left, options);
  return options.stages.length > 0 ? beginByStages(work) : toEngine(work);
}

function toEngine(work: PendingWork): StepResult {
  const refusal = work.unserved();
  if (refusal !== undefined) return refusal;
  work.by.engine.translate(work, work.x);
  return LATER;
}

/** Skips the engine if the stages have already answered all texts. */
function beginByStages(work: PendingWork): StepResult | Promise<StepResult> {
  const passed = work.pass();
  if (passed instanceof Promise) return passed.then((refusal) => refusal ?? afterStages(work));
  return passed ?? afterStages(work);
}

function afterStages(work: PendingWork): StepResult | Promise<StepResult> {
  if (work.text.length === 0) {
    const translations = work.finished();
    return translations instanceof Promise ? translations.then((late) => answerOf(work, late)) : answerOf(work, translations);
  }
  return toEngine(work);
}

function conclude(x: Exchange, work: PendingWork): StepResult {
  const translations = work.finished();
  if (!(translations instanceof Promise)) return answerOf(work, translations);
  translations.then(
    (late) => x.resume(() => answerOf(work, late), undefined),
    (error: unknown) => x.resume(throwOn, error),
  );
  return LATER;
}

function answerOf({ x, order, by }: PendingWork, translations: readonly Translation[] | Refusal): Outcome {
  if ('problem' in translations) return translations;
  const { languages } = by.offers.current.any;
  let body = '{"translations":[';
  for (let i = 0; i < translations.length; i++) {
    const { text, detectedSourceLanguage } = translations[i]!;
    // The engine's code, if it is one that we list; otherwise the one that the caller gave.
    const language = languages.base(detectedSourceLanguage) ?? order.options.sourceLang;
    if (i > 0) body += ',';
    body += language === undefined ? '{"text":' : `{"detected_source_language":"${language}","text":`;
    body += `${JSON.stringify(text)}}`;
  }
  return json(`${body}],"billed_characters":${x.need(requestStatsSlot).characters}}`);
}

/** For plugin steps, which await a promise. */
export function translateBy(options: TranslateOptions): Translate {
  return async (x, order) => {
    const offers = options.offers.current;
    const { languages } = offers.any;
    const { sourceLang, targetLang } = order.options;
    // A route with its own parameters should have refused it before the admission; at least it is not sent.
    if (!languages.offers(sourceLang, targetLang)) return pairNotOffered(sourceLang, targetLang, languages);
    const hasGlossary = order.glossaryId !== undefined || order.options.glossary !== undefined;
    const engines = offers.isRouted ? enginesFor(x, order.options, hasGlossary, options) : undefined;
    if (engines !== undefined && 'problem' in engines) return engines;
    const glossary = order.glossaryId === undefined ? undefined : await glossaryOf(x, order, order.glossaryId, options);
    if (glossary !== undefined && 'problem' in glossary) return glossary;
    const used = glossary ?? order.options.glossary;
    const left = used === undefined ? engines : await thoseThatTake(used, order.options, engines, options.takesGlossary);
    if (left !== undefined && 'problem' in left) return left;
    const translations = await runWork(x, order, glossary, left, options);
    if ('problem' in translations) return translations;
    const withLanguage = (translation: Translation): Translation => ({
      ...translation,
      detectedSourceLanguage: languages.base(translation.detectedSourceLanguage) ?? sourceLang,
    });
    return { kind: 'translated', translations: translations.map(withLanguage) };
  };
}

export function detectBy(options: TranslateOptions): Detect {
  return async (x, texts) => {
    const offers = options.offers.current;
    const { languages, detection: able } = offerFor(x, offers);
    if (able === undefined) return NO_DETECTION;
    const detection: WorkOrder = { text: texts, options: { ...NOTHING_CHOSEN, targetLang: able.targetLang }, detectionOnly: true };
    const translations = await runWork(
      x,
      detection,
      undefined,
      offers.isRouted ? detecting(able.names, options.engine) : undefined,
      options,
    );
    if ('problem' in translations) return translations;
    return { kind: 'detected', languages: translations.map(({ detectedSourceLanguage }) => languages.base(detectedSourceLanguage)) };
  };
}

function beginnings(texts: readonly string[]): readonly string[] {
  const units = Math.max(DETECTION_UNITS_MIN, Math.floor(DETECTION_UNITS_MAX / texts.length));
  return texts.map((text) => text.slice(0, units).toWellFormed());
}

const sharedCancellationSlot = reserveSlot<SharedCancellation>('cancellation of several works');

/** A plugin's step may have several works in flight; if the caller disconnects, all of them are cancelled. */
function shareOf(x: Exchange): Cancellation {
  let shared = x.get(sharedCancellationSlot);
  if (shared === undefined) x.set(sharedCancellationSlot, (shared = new SharedCancellation(x)));
  return shared.share();
}

async function runWork(
  x: Exchange,
  order: WorkOrder,
  glossary: EngineGlossary | undefined,
  engines: ChosenEngines,
  options: TranslateOptions,
): Promise<readonly Translation[] | Refusal> {
  const { promise, resolve } = Promise.withResolvers<PendingWork>();
  const left = unspent(engines, options.isSpent);
  if (left !== undefined && 'problem' in left) return left;
  const work = new PendingWork(x, order, glossary, left, options, resolve);
  const refusal = options.stages.length === 0 ? undefined : await work.pass();
  if (refusal !== undefined) return refusal;
  if (work.text.length === 0) return work.finished();
  if (order.detectionOnly === true) work.text = beginnings(work.text);
  const known = work.unserved();
  if (known !== undefined) return known;
  options.engine.translate(work, shareOf(x));
  return (await promise).finished();
}

/** A single object per piece of work: the request to the engine, its callback, and the context for its result. */
class PendingWork implements AskedWork {
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
  readonly #onDone: ((work: PendingWork) => void) | undefined;

  /** `onDone` must not throw. By default the chain goes on with `conclude`. */
  constructor(
    x: Exchange,
    order: WorkOrder,
    glossary: EngineGlossary | undefined,
    engines: ChosenEngines,
    by: TranslateOptions,
    onDone?: (work: PendingWork) => void,
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
    if (this.#onDone === undefined) this.x.resume(conclude, this);
    else this.#onDone(this);
  }

  /** Runs the texts through the plugins' stages; `text` then contains those left for the engine. */
  pass(): Refusal | undefined | Promise<Refusal | undefined> {
    const { x, teamId, text, options, detectionOnly } = this;
    const engines = this.engines ?? ONE_ENGINE;
    const instead = engines.length > 1 && this.by.engine.isFailing?.(engines[0]!) === true;
    const expected = engines[instead ? 1 : 0]!;
    const work = { x, teamId, text, options, engines, expected, detectionOnly: detectionOnly === true };
    const passed = passStages(work, this.by.stages);
    return passed instanceof Promise ? passed.then((late) => this.#hasPassed(late)) : this.#hasPassed(passed);
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
  finished(): readonly Translation[] | Refusal | Promise<readonly Translation[] | Refusal> {
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
    const back = this.#passed.back(translations, result?.engine);
    return back instanceof Promise ? back.then((late) => this.#marked(late)) : this.#marked(back);
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

  #marked(translations: readonly Translation[] | Refusal): readonly Translation[] | Refusal {
    if ('problem' in translations || this.#spared.size === 0) return translations;
    return translations.map((translation, i) => (this.#spared.has(i) ? { ...translation, isSpared: true } : translation));
  }
}

type FoundGlossary = EngineGlossary | Refusal;

/** The glossary that an order names; a promise only if it has to be fetched. */
function glossaryOf(
  x: Exchange,
  order: TranslationOrder,
  glossaryId: string,
  options: TranslateOptions,
): FoundGlossary | Promise<FoundGlossary> {
  const startedAtMs = options.now();
  const reference = referenceOf(x, order, glossaryId);
  const dictionary = options.glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, x.get(dictionaryIdSlot));
  if (!(dictionary instanceof Promise)) return foundOr(dictionary);
  return dictionary.then((found) => {
    x.need(requestStatsSlot).storeMs += options.now() - startedAtMs;
    return foundOr(found);
  });
}

function foundOr(dictionary: EngineGlossary | undefined | StoreUnavailable): FoundGlossary {
  // Deleted since the admission found it.
  if (dictionary === undefined) return NO_SUCH_GLOSSARY;
  return isUnavailable(dictionary) ? STORE_UNAVAILABLE : dictionary;
}

/** The charge's reference to the glossary; built from the order if the charge has none. */
function referenceOf(x: Exchange, { options }: TranslationOrder, glossaryId: string): GlossaryReference {
  const charged = x.get(chargeSlot)?.glossary;
  if (charged?.glossaryId === glossaryId) return charged;
  return { glossaryId, sourceLang: options.sourceLang ?? '', targetLang: options.targetLang };
}
