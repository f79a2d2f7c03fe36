// Translation and detection for plugins' steps, which await a promise and may have several works in flight.
import { reserveSlot } from '../core/exchange.ts';
import type { Cancellation, Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { SharedCancellation } from '../core/shared-cancellation.ts';
import { detecting, enginesFor, thoseThatTake, unspent } from '../domain/engine-choice.ts';
import type { ChosenEngines } from '../domain/engine-choice.ts';
import { offerFor } from '../domain/engine-offer.ts';
import { NO_DETECTION, pairNotOffered } from '../domain/refusals.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { Translation } from '../ports/engine.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import { PendingWork } from './parts/pending-work.ts';
import type { TranslateOptions, WorkOrder } from './parts/pending-work.ts';
import { glossaryOf } from './parts/named-glossary.ts';

/** Translates an admitted request; the caller turns the result into an answer. */
type Translate = GatewayServices['translate'];

/** Has the engine detect the language of texts. */
type Detect = GatewayServices['detect'];

/**
 * For all texts of a detection together: enough to recognize a language. More would cost the operator, because detection is
 * free of charge.
 */
const DETECTION_UNITS_MAX = 1000;
/** For each text, however many there are: less would be a guess. */
const DETECTION_UNITS_MIN = 100;

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
