// Hands the admitted request to the engine and turns usable translations into the answer; anything else is one refusal.
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import { keyOwnerSlot, requestStatsSlot, translateRequestSlot } from '../domain/slots.ts';
import type { Languages } from '../domain/languages.ts';
import { NO_SUCH_GLOSSARY, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { StoreError } from '../domain/store-error.ts';
import { traceparentForward } from '../domain/traceparent.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';
import type { AttemptFailure, Engine, EngineResult, EngineWork, Translation } from '../ports/engine.ts';
import type { GlossaryEntries, GlossaryCache } from '../ports/glossary-store.ts';

export interface TranslateOptions {
  readonly engine: Engine;
  readonly glossaries: GlossaryCache;
  readonly languages: () => Languages;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Told why attempts failed, in fixed words; the place where an engine failure is logged. */
  readonly onEngineResult: (x: Exchange, failures: readonly AttemptFailure[], usable: boolean) => void;
}

type Worked = Outcome | Promise<Outcome>;

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
      const { glossaryId } = request;
      if (glossaryId === undefined) return work(x, request, undefined, options);
      const startedAtMs = options.now();
      const entries = options.glossaries.entries(x.need(keyOwnerSlot).teamId, glossaryId);
      if (!(entries instanceof Promise)) return workWith(x, request, entries, options);
      return entries.then((found) => {
        x.need(requestStatsSlot).storeMs += options.now() - startedAtMs;
        return workWith(x, request, found, options);
      }, refuseUnreachable);
    },
  };
}

function workWith(x: Exchange, request: TranslateRequest, entries: GlossaryEntries | undefined, options: TranslateOptions): Worked {
  // Deleted since the admission found it.
  if (entries === undefined) return NO_SUCH_GLOSSARY;
  return work(x, request, { id: request.glossaryId!, entries }, options);
}

function work(x: Exchange, request: TranslateRequest, glossary: EngineGlossary | undefined, options: TranslateOptions): Worked {
  const startedAtMs = options.now();
  const result = options.engine.translate(engineWork(x, request, glossary), x);
  if (!(result instanceof Promise)) return conclude(x, request, result, startedAtMs, options);
  return result.then((answer) => conclude(x, request, answer, startedAtMs, options));
}

function refuseUnreachable(error: unknown): Outcome {
  if (error instanceof StoreError) return STORE_UNAVAILABLE;
  throw error;
}

function engineWork(x: Exchange, request: TranslateRequest, glossary: EngineGlossary | undefined): EngineWork {
  return {
    requestId: x.id,
    text: request.text,
    options: glossary === undefined ? request.options : { ...request.options, glossary },
    traceparent: traceparentForward(x.head.headers['traceparent']),
  };
}

function conclude(x: Exchange, request: TranslateRequest, result: EngineResult, startedAtMs: number, options: TranslateOptions): Outcome {
  const usable = result.kind === 'usable';
  const stats = x.need(requestStatsSlot);
  stats.engineMs = options.now() - startedAtMs;
  stats.attempts = result.failures.length + (usable ? 1 : 0);
  options.onEngineResult(x, result.failures, usable);
  return usable ? json(successBody(request, result.translations, options.languages())) : ENGINE_UNAVAILABLE;
}

function successBody(request: TranslateRequest, translations: readonly Translation[], languages: Languages): string {
  let body = '{"translations":[';
  for (let i = 0; i < translations.length; i++) {
    const translation = translations[i]!;
    // Only a code of ours is passed on: whatever else an engine puts there is its own affair.
    const detected = languages.base(translation.detectedSourceLanguage) ?? request.options.sourceLang;
    if (i > 0) body += ',';
    body += detected === undefined ? '{"text":' : `{"detected_source_language":"${detected}","text":`;
    body += `${JSON.stringify(translation.text)}}`;
  }
  return `${body}],"billed_characters":${request.characters}}`;
}
