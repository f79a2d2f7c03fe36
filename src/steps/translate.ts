// Reads the body of a translation, which sets its charge for the admission, and has texts
// translated: by which engines, with which glossary, through the plugins' stages and back, and what
// the engine's result means for the request. The latter also for plugins' steps.
import { reserveSlot, SharedCancellation } from '../core/exchange.ts';
import type { Cancellation, Exchange } from '../core/exchange.ts';
import { andThen, json, LATER } from '../core/outcome.ts';
import type { Outcome, Refusal, StepResult } from '../core/outcome.ts';
import type { BodyStep } from '../core/pipeline.ts';
import { countCharacters } from '../domain/characters.ts';
import {
  chargeSlot,
  dictionaryIdSlot,
  judgeAgainSlot,
  keyOwnerSlot,
  noteFailure,
  refusedCharge,
  requestStatsSlot,
  spareCharacters,
  traceSlot,
  translateRequestSlot,
} from '../domain/slots.ts';
import { notAble, offerFor, routeFor } from '../domain/engine-offer.ts';
import type { CurrentOffers, EngineOffer } from '../domain/engine-offer.ts';
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
import type { PassTraceparent } from '../domain/request-trace.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { passStages } from '../domain/text-stages.ts';
import type { PassedTexts, TextStage, Translations } from '../domain/text-stages.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type { AskedWork, AttemptFailure, Engine, EngineResult, EngineWork, Translation } from '../ports/engine.ts';
import type { GatewayServices, TranslationOrder } from '../ports/gateway-services.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';
import type { Charge } from '../domain/slots.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import { judgeTranslateBody, tooManyTexts } from '../domain/translate-request.ts';

export function readStep(offers: CurrentOffers, bodyBytesMax: number): BodyStep {
  return {
    kind: 'body',
    name: 'read',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const read = readJsonBody(x.head.headers, x.body, bodyBytesMax, tooManyTexts);
      // The bytes are not needed again and must not stay in memory for a slow engine.
      x.body = 'none';
      if (read.kind !== 'value') {
        x.set(chargeSlot, refusedCharge(read.refusal));
        return undefined;
      }
      const { any, byPlan } = offers.current;
      const charge = judged(x, read.value, any);
      x.set(chargeSlot, charge);
      if (byPlan) judgeLater(x, read.value, charge, offers);
      return undefined;
    },
  };
}

/** A separate function, because otherwise every request would pay for the closure. */
function judgeLater(x: Exchange, value: unknown, { refusal }: Charge, offers: CurrentOffers): void {
  x.set(judgeAgainSlot, { refusal, judge: () => judged(x, value, offerFor(x, offers.current)).refusal });
}

/** Stores the request if it is valid, and returns its charge. */
function judged(x: Exchange, value: unknown, offer: EngineOffer): Charge {
  const body = judgeTranslateBody(value, offer.languages, offer);
  if (body.kind === 'invalid') return refusedCharge(body.refusal, body.characters);
  x.set(translateRequestSlot, body.request);
  const { characters, glossaryId, options } = body.request;
  // `sourceLang` is set: the body's rules require it with a glossary.
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: options.sourceLang!, targetLang: options.targetLang };
  return { characters, reserve: true, glossary, refusal: undefined };
}

/** What translating needs of the gateway. */
export interface TranslateOptions {
  readonly engine: Omit<Engine, 'close'>;
  /** Whether an engine has used up its characters; `undefined` if none is limited. */
  readonly isSpent?: ((engine: string) => boolean) | undefined;
  readonly glossaries: GlossaryCache;
  readonly offers: CurrentOffers;
  /** The plugins' stages in front of the engine. */
  readonly stages: readonly TextStage[];
  /** What engines get of an untraced `traceparent`. */
  readonly passTraceparent: PassTraceparent;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called with the failures of a request's attempts, in fixed words, if there were any. */
  readonly onFailures: (failures: readonly AttemptFailure[]) => void;
}

/** What is to be translated, or whose language is to be detected. */
type WorkOrder = TranslationOrder & Pick<EngineWork, 'detectionOnly'>;

/** An order on its way: its glossary, its engines, and its texts after the plugins' stages. */
interface Work {
  readonly x: Exchange;
  readonly order: WorkOrder;
  readonly by: TranslateOptions;
  readonly options: TranslationOptions;
  /** In the order to try them; `undefined` for the only one there is. */
  readonly engines: readonly string[] | undefined;
  /** `undefined` without stages. */
  readonly passed: PassedTexts | undefined;
}

const ATTEMPTS = 2;
/** The name of the only engine, as a list. */
const ONE_ENGINE: readonly string[] = [ONLY_ENGINE];

export function translateStep(by: TranslateOptions): BodyStep {
  return {
    kind: 'body',
    name: 'translate',
    headers: ['traceparent'],
    run: (x) => andThen(prepared(x, x.need(translateRequestSlot), by), toEngine),
  };
}

function toEngine(work: Work | Refusal): StepResult | Promise<StepResult> {
  if ('problem' in work) return work;
  const text = openTexts(work);
  // The stages have answered all of it.
  if (text.length === 0) return andThen(finished(work), (translations) => answerOf(work, translations));
  const refusal = unserved(work);
  if (refusal !== undefined) return refusal;
  ask(work, text, work.x, (done) => work.x.resume(concluded, done));
  return LATER;
}

function concluded(_x: Exchange, { work, result, startedAtMs }: DoneWork): Outcome | Promise<Outcome> {
  return andThen(finished(work, result, startedAtMs), (translations) => answerOf(work, translations));
}

function answerOf({ x, order, by }: Work, translations: Translations): Outcome {
  if ('problem' in translations) return translations;
  const { languages } = by.offers.current.any;
  const shown = translations.map(({ text, detectedSourceLanguage }) => {
    // The engine's code, if it is one that we list; otherwise the one that the caller gave.
    const language = languages.base(detectedSourceLanguage) ?? order.options.sourceLang;
    return `{${language === undefined ? '' : `"detected_source_language":"${language}",`}"text":${JSON.stringify(text)}}`;
  });
  return json(`{"translations":[${shown.join(',')}],"billed_characters":${x.need(requestStatsSlot).characters}}`);
}

/** For plugins' steps: they await a promise, make an answer of it, and may have several works. */
export function translateBy(by: TranslateOptions): GatewayServices['translate'] {
  return async (x, order) => {
    const { languages } = by.offers.current.any;
    const { sourceLang, targetLang } = order.options;
    // A route with its own parameters should have refused it; at least it is not sent.
    if (!languages.offers(sourceLang, targetLang)) return pairNotOffered(sourceLang, targetLang, languages);
    const translations = await awaited(prepared(x, order, by));
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
    const options = { ...NOTHING_CHOSEN, targetLang: able.targetLang };
    const order: WorkOrder = { text: texts, options, glossaryId: undefined, detectionOnly: true };
    const translations = await awaited(staged(x, order, by, options, offers.isRouted ? detecting(able.names, by) : undefined));
    if ('problem' in translations) return translations;
    return { kind: 'detected', languages: translations.map(({ detectedSourceLanguage }) => languages.base(detectedSourceLanguage)) };
  };
}

async function awaited(begun: MaybeWork | Promise<MaybeWork>): Promise<Translations> {
  const work = await begun;
  if ('problem' in work) return work;
  const text = openTexts(work);
  if (text.length === 0) return finished(work);
  const refusal = unserved(work);
  if (refusal !== undefined) return refusal;
  const sent = work.order.detectionOnly === true ? beginnings(text) : text;
  const { result, startedAtMs } = await new Promise<DoneWork>((resolve) => ask(work, sent, shareOf(work.x), resolve));
  return finished(work, result, startedAtMs);
}

/** For all texts of a detection: enough to recognize a language, which is free of charge. */
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

/** The work of an order, ready for the engine; a promise only if something has to be fetched. */
function prepared(x: Exchange, order: WorkOrder, by: TranslateOptions): MaybeWork | Promise<MaybeWork> {
  const { glossaryId, options } = order;
  const hasGlossary = glossaryId !== undefined || options.glossary !== undefined;
  let engines: Work['engines'];
  if (by.offers.current.isRouted) {
    const offer = offerFor(x, by.offers.current);
    const route = routeFor(offer, options, hasGlossary);
    if (typeof route === 'string') return notAble(route, offer, options);
    engines = options.sourceLang === undefined ? detecting(route.names, by) : route.names;
  }
  if (!hasGlossary) return staged(x, order, by, options, engines);
  return andThen(glossaryOf(x, order, by), (glossary) => {
    if ('problem' in glossary) return glossary;
    // A promise only if one of the engines has not seen the dictionary before.
    const names = engines ?? ONE_ENGINE;
    const takes = names.map((name) => by.engine.of(name).takesGlossary(glossary, options));
    const known = takes.some((one) => one instanceof Promise) ? Promise.all(takes.map(async (one) => one)) : (takes as readonly boolean[]);
    return andThen(known, (found) => {
      if (!found.some(Boolean)) return GLOSSARY_NOT_TAKEN;
      const able = found.every(Boolean) ? engines : names.filter((_name, i) => found[i]);
      return staged(x, order, by, { ...options, glossary }, able);
    });
  });
}

/** Those that are not known to detect no languages; all of them if none is left. */
function detecting(names: readonly string[], { engine }: TranslateOptions): readonly string[] {
  const able = names.some((name) => engine.of(name).cannotDetect()) ? names.filter((name) => !engine.of(name).cannotDetect()) : names;
  return able.length === 0 ? names : able;
}

/** With those of the engines that have characters left, and the texts after the plugins' stages. */
function staged(
  x: Exchange,
  order: WorkOrder,
  by: TranslateOptions,
  options: TranslationOptions,
  engines: Work['engines'],
): MaybeWork | Promise<MaybeWork> {
  const { isSpent, stages, engine } = by;
  let left = engines;
  if (isSpent !== undefined && (engines ?? ONE_ENGINE).some(isSpent)) {
    left = (engines ?? ONE_ENGINE).filter((name) => !isSpent(name));
    if (left.length === 0) return ENGINE_UNAVAILABLE;
  }
  const work: Work = { x, order, by, options, engines: left, passed: undefined };
  if (stages.length === 0) return work;
  const names = left ?? ONE_ENGINE;
  const expected = names[names.length > 1 && engine.of(names[0]!).isFailing() ? 1 : 0]!;
  const texts = { x, teamId: x.get(keyOwnerSlot)?.teamId, text: order.text, options, engines: names, expected };
  return andThen(passStages({ ...texts, detectionOnly: order.detectionOnly === true }, stages), (passed) =>
    'problem' in passed ? passed : { ...work, passed },
  );
}

/** That of the glossary which the order names, found by the admission, or the order's own. */
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

/** The texts that the stages have left for the engine. */
function openTexts({ order, passed }: Work): readonly string[] {
  return passed === undefined ? order.text : passed.work.text;
}

/** No engine could do it, because none detects languages: known from other requests. */
function unserved(work: Work): Refusal | undefined {
  if (work.options.sourceLang !== undefined) return undefined;
  return (work.engines ?? ONE_ENGINE).every((name) => work.by.engine.of(name).cannotDetect()) ? languageNeeded(work) : undefined;
}

function languageNeeded({ order }: Work): Refusal {
  return order.detectionOnly === true ? NO_DETECTION : SOURCE_LANG_NEEDED;
}

interface DoneWork {
  readonly work: Work;
  readonly result: EngineResult;
  readonly startedAtMs: number;
}

/** Sends texts to the engine. `onDone` is called when it has answered; it must not throw. */
function ask(work: Work, text: readonly string[], cancellation: Cancellation, onDone: (done: DoneWork) => void): void {
  const { x, order, by, options, engines } = work;
  const stats = x.need(requestStatsSlot);
  const works = ++stats.works;
  const traceparent = x.head.headers['traceparent'];
  const startedAtMs = by.now();
  const asked: AskedWork = {
    // The request's own id first; later works get a suffix, so that answers cannot be confused.
    requestId: works === 1 ? x.id : laterWorkId(x.id, works),
    teamId: x.get(keyOwnerSlot)?.teamId,
    text,
    options,
    traceparent: traceparent === undefined ? undefined : by.passTraceparent(traceparent),
    trace: x.get(traceSlot),
    attemptMs: order.attemptMs,
    detectionOnly: order.detectionOnly,
    engines,
    attemptFailed({ failure, cause, status }) {
      // A caller who has left is no failure of the engine's.
      if (failure === 'cancelled') return;
      const detail = cause ?? (failure === 'status' ? status : undefined);
      noteFailure(stats, detail === undefined ? failure : `${failure}:${detail}`);
    },
    answered: (result) => onDone({ work, result, startedAtMs }),
  };
  by.engine.translate(asked, cancellation);
}

/** All texts' translations, once, after the engine or without it. Updates the stats. */
function finished(work: Work, result?: EngineResult, startedAtMs = 0): Translations | Promise<Translations> {
  const { x, by, order, passed, engines = ONE_ENGINE } = work;
  const spared = new Set(passed?.spared.filter((i) => spareCharacters(x, order.charged?.[i] ?? countCharacters(order.text[i]!))));
  if (result !== undefined) {
    const { failures } = result;
    const stats = x.need(requestStatsSlot);
    // Several works overlap, so the durations are not added up; the attempts are.
    stats.engineMs = Math.max(stats.engineMs, by.now() - startedAtMs);
    stats.attempts += failures.length + (result.kind === 'usable' ? 1 : 0);
    // A single failed attempt was the first engine's; of two, the last was the second's.
    if (result.kind === 'usable') stats.engine = result.engine;
    else if (failures.length > 0) stats.engine = engines[Math.min(failures.length, engines.length) - 1];
    if (failures.length > 0) by.onFailures(failures);
    if (result.kind !== 'usable') return failed(work, failures);
  }
  const translations = result?.translations ?? [];
  if (passed === undefined) return translations;
  return andThen(passed.back(translations, result?.engine), (back) =>
    'problem' in back || spared.size === 0 ? back : back.map((one, i) => (spared.has(i) ? { ...one, isSpared: true } : one)),
  );
}

/** What no later attempt would change is reported as such. */
function failed(work: Work, failures: readonly AttemptFailure[]): Refusal {
  const areAll = (kind: AttemptFailure): boolean => failures.length > 0 && failures.every((failure) => failure === kind);
  const { engine } = work.by;
  // Every attempt failed for that reason, and there is no further engine that may detect.
  const others = (work.engines ?? ONE_ENGINE).slice(ATTEMPTS);
  if (areAll('no_detection') && others.every((name) => engine.of(name).cannotDetect())) return languageNeeded(work);
  return areAll('glossary_refused') ? GLOSSARY_NOT_TAKEN : ENGINE_UNAVAILABLE;
}
