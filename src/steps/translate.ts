// Hands the admitted request to the engine and turns usable translations into the answer; anything else becomes one refusal.
import type { Exchange } from '../core/exchange.ts';
import { json, LATER } from '../core/outcome.ts';
import type { Outcome, Refusal, StepResult } from '../core/outcome.ts';
import { throwOn } from '../core/step.ts';
import type { BodyStep } from '../core/step.ts';
import { enginesFor, thoseThatTake, unspent } from '../domain/engine-choice.ts';
import type { ChosenEngines } from '../domain/engine-choice.ts';
import { requestStatsSlot, translateRequestSlot } from '../domain/slots.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { Translation } from '../ports/engine.ts';
import { PendingWork } from './parts/pending-work.ts';
import type { TranslateOptions } from './parts/pending-work.ts';
import { glossaryOf } from './parts/named-glossary.ts';
import type { GlossaryFound } from './parts/named-glossary.ts';

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
  glossary: GlossaryFound | undefined,
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
  const work = new PendingWork(x, request, glossary, left, options, goOn);
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

/** Not inline: a closure for each request would cost more. */
function goOn(work: PendingWork): void {
  work.x.resume(conclude, work);
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
