// Hands the admitted request to the engine and turns usable translations into the answer; anything else is one refusal.
import type { Exchange } from '../core/exchange.ts';
import { json, LATER } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot } from '../domain/charge.ts';
import type { GlossaryReference } from '../domain/charge.ts';
import { dictionaryIdSlot, keyOwnerSlot, requestStatsSlot, translateRequestSlot } from '../domain/slots.ts';
import type { Languages } from '../domain/languages.ts';
import { NO_SUCH_GLOSSARY, pairNotOffered, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { traceparentForward } from '../domain/traceparent.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import type { AskedWork, AttemptFailure, Engine, EngineResult, EngineWork, Translation } from '../ports/engine.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';
import type { Detected, Translated, TranslationOrder } from '../ports/plugin.ts';

export interface TranslateOptions {
  readonly engine: Engine;
  readonly glossaries: GlossaryCache;
  readonly languages: () => Languages;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called with the reasons of a request's failed attempts, in fixed words. */
  readonly onEngineResult: (failures: readonly AttemptFailure[]) => void;
}

/** Translates an admitted request; the caller makes an answer of the result. */
export type Translate = (x: Exchange, order: TranslationOrder) => Translated | Refusal | Promise<Translated | Refusal>;

/** Has the engine tell what language a text is in. */
export type Detect = (x: Exchange, text: string) => Detected | Refusal | Promise<Detected | Refusal>;

/** Enough to tell a language by; more would cost the operator, because a detection is not charged. */
const DETECTION_UNITS_MAX = 1000;

/** Makes the result from usable translations. */
type Tell<Told> = (translations: readonly Translation[]) => Told;
type Worked<Told> = Told | Refusal | Promise<Told | Refusal>;

const ENGINE_UNAVAILABLE = refuse(
  'engine_unavailable',
  'No usable translation could be had; nothing was charged. Try again in a few seconds.',
);

export function translateStep(options: TranslateOptions): BodyStep {
  return {
    kind: 'body',
    name: 'translate',
    headers: ['traceparent'],
    run(x) {
      const request = x.need(translateRequestSlot);
      if (request.glossaryId === undefined && options.engine.translateFor !== undefined) {
        options.engine.translateFor(new PendingTranslation(x, request, options), x);
        return LATER;
      }
      return translated(x, request, options, (translations) => json(successBody(request, translations, options.languages())));
    },
  };
}

/** One object for a translation without a glossary: its work for the engine, the callback, and what the answer is made from. */
class PendingTranslation implements AskedWork {
  readonly requestId: string;
  readonly teamId: string;
  readonly text: readonly string[];
  readonly options: TranslationOptions;
  readonly traceparent: string | undefined;
  readonly attemptMs = undefined;
  readonly request: TranslateRequest;
  readonly by: TranslateOptions;
  readonly startedAtMs: number;
  result: EngineResult | undefined = undefined;
  readonly #x: Exchange;

  constructor(x: Exchange, request: TranslateRequest, by: TranslateOptions) {
    this.requestId = workIdOf(x);
    this.teamId = x.need(keyOwnerSlot).teamId;
    this.text = request.text;
    this.options = request.options;
    this.traceparent = traceparentForward(x.head.headers['traceparent']);
    this.request = request;
    this.by = by;
    this.startedAtMs = by.now();
    this.#x = x;
  }

  answered(result: EngineResult): void {
    this.result = result;
    this.#x.resume(answerOf, this);
  }
}

function answerOf(x: Exchange, { result, request, by, startedAtMs }: PendingTranslation): Outcome {
  count(x, result!, startedAtMs, by);
  return result!.kind === 'usable' ? json(successBody(request, result!.translations, by.languages())) : ENGINE_UNAVAILABLE;
}

export function translateBy(options: TranslateOptions): Translate {
  return (x, order) => {
    const languages = options.languages();
    const { sourceLang, targetLang } = order.options;
    // A route that reads parameters itself should have refused it before the admission; here it is at least not sent.
    if (!languages.offers(sourceLang, targetLang)) return pairNotOffered(sourceLang, targetLang, languages);
    return translated(x, order, options, (translations) => {
      const told = (translation: Translation): Translation => ({
        ...translation,
        detectedSourceLanguage: detected(translation, order, languages),
      });
      return { kind: 'translated', translations: translations.map(told) };
    });
  };
}

export function detectBy(options: TranslateOptions): Detect {
  return (x, text) => {
    const languages = options.languages();
    const detection: EngineWork = {
      requestId: workIdOf(x),
      teamId: x.get(keyOwnerSlot)?.teamId,
      text: [text.slice(0, DETECTION_UNITS_MAX).toWellFormed()],
      options: { ...NOTHING_CHOSEN, targetLang: englishOf(languages) },
      traceparent: traceparentForward(x.head.headers['traceparent']),
      detectionOnly: true,
    };
    return engineWork(x, detection, options, ([found]) => ({
      kind: 'detected',
      language: languages.base(found?.detectedSourceLanguage),
    }));
  };
}

/** The target of a translation that is made only to detect a language: more engines translate into English than into any other. */
function englishOf({ targets }: Languages): string {
  return (targets.find(({ code }) => code === 'EN' || code.startsWith('EN-')) ?? targets[0]!).code;
}

function translated<Told>(x: Exchange, order: TranslationOrder, options: TranslateOptions, tell: Tell<Told>): Worked<Told> {
  const { glossaryId } = order;
  if (glossaryId === undefined) return work(x, order, undefined, options, tell);
  const startedAtMs = options.now();
  const reference = referenceOf(x, order, glossaryId);
  const glossary = options.glossaries.dictionary(x.need(keyOwnerSlot).teamId, reference, x.get(dictionaryIdSlot));
  if (!(glossary instanceof Promise)) return workWith(x, order, glossary, options, tell);
  return glossary.then((found) => {
    x.need(requestStatsSlot).storeMs += options.now() - startedAtMs;
    return workWith(x, order, found, options, tell);
  });
}

/** The charge's reference to the glossary; from the order where the route's charge has none. */
function referenceOf(x: Exchange, { options }: TranslationOrder, glossaryId: string): GlossaryReference {
  const charged = x.get(chargeSlot)?.glossary;
  if (charged?.glossaryId === glossaryId) return charged;
  return { glossaryId, sourceLang: options.sourceLang ?? '', targetLang: options.targetLang };
}

function workWith<Told>(
  x: Exchange,
  order: TranslationOrder,
  glossary: EngineGlossary | undefined | StoreUnavailable,
  options: TranslateOptions,
  tell: Tell<Told>,
): Worked<Told> {
  // Deleted since the admission found it.
  if (glossary === undefined) return NO_SUCH_GLOSSARY;
  if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
  return work(x, order, glossary, options, tell);
}

function work<Told>(
  x: Exchange,
  order: TranslationOrder,
  glossary: EngineGlossary | undefined,
  options: TranslateOptions,
  tell: Tell<Told>,
): Worked<Told> {
  return engineWork(x, workOf(x, order, glossary), options, tell);
}

function engineWork<Told>(x: Exchange, asked: EngineWork, options: TranslateOptions, tell: Tell<Told>): Worked<Told> {
  const startedAtMs = options.now();
  const result = options.engine.translate(asked, x);
  if (!(result instanceof Promise)) return conclude(x, result, startedAtMs, options, tell);
  return result.then((answer) => conclude(x, answer, startedAtMs, options, tell));
}

/** The request's own id for its first work; further ones have a number behind it, so that no answer is taken for another's. */
function workIdOf(x: Exchange): string {
  const works = ++x.need(requestStatsSlot).works;
  return works === 1 ? x.id : `${x.id}-${works}`;
}

function workOf(x: Exchange, { text, options, attemptMs }: TranslationOrder, glossary: EngineGlossary | undefined): EngineWork {
  return {
    requestId: workIdOf(x),
    teamId: x.get(keyOwnerSlot)?.teamId,
    text,
    options: glossary === undefined ? options : { ...options, glossary },
    traceparent: traceparentForward(x.head.headers['traceparent']),
    attemptMs,
  };
}

function conclude<Told>(
  x: Exchange,
  result: EngineResult,
  startedAtMs: number,
  options: TranslateOptions,
  tell: Tell<Told>,
): Told | Refusal {
  count(x, result, startedAtMs, options);
  return result.kind === 'usable' ? tell(result.translations) : ENGINE_UNAVAILABLE;
}

function count(x: Exchange, { kind, failures }: EngineResult, startedAtMs: number, options: TranslateOptions): void {
  const stats = x.need(requestStatsSlot);
  stats.engineMs = options.now() - startedAtMs;
  stats.attempts = failures.length + (kind === 'usable' ? 1 : 0);
  options.onEngineResult(failures);
}

/** The engine's code, if it is one that we list; otherwise the one that the caller named. */
function detected({ detectedSourceLanguage }: Translation, { options }: TranslationOrder, languages: Languages): string | undefined {
  return languages.base(detectedSourceLanguage) ?? options.sourceLang;
}

function successBody(request: TranslateRequest, translations: readonly Translation[], languages: Languages): string {
  let body = '{"translations":[';
  for (let i = 0; i < translations.length; i++) {
    const translation = translations[i]!;
    const language = detected(translation, request, languages);
    if (i > 0) body += ',';
    body += language === undefined ? '{"text":' : `{"detected_source_language":"${language}","text":`;
    body += `${JSON.stringify(translation.text)}}`;
  }
  return `${body}],"billed_characters":${request.characters}}`;
}
