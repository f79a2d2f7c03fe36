// POST /v2/translate.
import {
  chargeSlot,
  countCharacters,
  dictionaryFor,
  GLOSSARY_MISMATCH,
  isUnavailable,
  json,
  keyOwnerSlot,
  NO_SUCH_GLOSSARY,
  refusedCharge,
  STORE_UNAVAILABLE,
} from 'lingate';
import type {
  BodyStep,
  Charge,
  EngineGlossary,
  Exchange,
  GatewayServices,
  Outcome,
  Refusal,
  Slot,
  Translated,
  Translation,
  TranslationOptions,
} from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { ATTEMPT_MS } from './deepl-options.ts';
import type { DeepLOptions } from './deepl-options.ts';
import { PROBLEM_FORM } from './deepl-problem-form.ts';
import { CHANGING, NOT_FOUND } from './glossary-answer.ts';
import { findGlossary } from './glossary-steps.ts';
import { AUTHENTICATED, readBody } from './read-body.ts';
import type { Take } from './read-body.ts';
import { judgeTranslation, TEXTS_LIMIT } from './translate-body.ts';
import type { TranslateOrder } from './translate-body.ts';
import { TRANSLATE_DOC } from './translate-doc.ts';

/** Clients expect a language with every text: this is ISO 639's code for an undetermined one. */
const UNDETERMINED = 'UND';
const NOTHING: Translation = { text: '', detectedSourceLanguage: undefined };

export function translate({ options, host }: PartSetup<DeepLOptions>): ApiPart {
  const slot = host.reserveSlot<TranslateOrder>('translation');
  return {
    routes: [
      {
        method: 'POST',
        path: '/v2/translate',
        takesBody: true,
        steps: [...AUTHENTICATED, 'deepl-read-translation', 'admit', 'deepl-translate'],
        problemForm: PROBLEM_FORM,
        doc: TRANSLATE_DOC,
      },
    ],
    steps(services) {
      const { attempt_timeout_ms: attemptMs, default_variants: variants } = options;
      if (attemptMs !== undefined && attemptMs < services.engineTimeoutMs) {
        host.warn('attempt_timeout_ms is less than engine.timeout_ms: translations that take longer fail for this API alone', {
          attempt_timeout_ms: attemptMs,
          engine_timeout_ms: services.engineTimeoutMs,
        });
      }
      return [readTranslation(services, slot, variants), translateStep(services, slot, attemptMs ?? ATTEMPT_MS)];
    },
  };
}

function readTranslation(services: GatewayServices, slot: Slot<TranslateOrder>, variants: DefaultVariants): BodyStep {
  const take: Take = (x, members) => {
    const judged = judgeTranslation(members, { languages: services.languages(x), variants, can: services.engineCan });
    const refusal =
      judged.kind === 'invalid' ? judged.refusal : services.refusalFor(x, judged.order.options, judged.order.glossaryIds.length > 0);
    if (judged.kind === 'invalid' || refusal !== undefined) {
      const { characters } = judged.kind === 'invalid' ? judged : judged.order;
      x.set(chargeSlot, refusedCharge(refusal!, characters));
      return refusal;
    }
    x.set(slot, judged.order);
    x.set(chargeSlot, chargeOf(judged.order));
    return undefined;
  };
  return readBody('deepl-read-translation', services, take, TEXTS_LIMIT);
}

function chargeOf({ characters, glossaryIds, options }: TranslateOrder): Charge {
  const { sourceLang, targetLang } = options;
  const [glossaryId] = glossaryIds;
  // A glossary is never used without a source language. Here its languages are compared without their regions.
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
  return { characters, reserve: true, glossary, missingGlossary: NOT_FOUND, refusal: undefined };
}

function translateStep(services: GatewayServices, slot: Slot<TranslateOrder>, attemptMs: number): BodyStep {
  return {
    kind: 'body',
    name: 'deepl-translate',
    headers: ['traceparent'],
    run(x) {
      const order = x.need(slot);
      const tell = (told: Translated | Refusal): Outcome => {
        if (told.kind === 'translated') return answerOf(order, told.translations);
        // Deleted since the admission found it.
        return told === NO_SUCH_GLOSSARY ? NOT_FOUND : told;
      };
      const { options, glossaryIds } = order;
      const text = order.text.filter((one) => one !== '');
      if (glossaryIds.length > 1) return withSeveral(x, services, { ...order, text }, attemptMs).then(tell);
      return services.translate(x, { text, options, glossaryId: glossaryIds[0], attemptMs }).then(tell);
    },
  };
}

async function withSeveral(
  x: Exchange,
  services: GatewayServices,
  { text, options, glossaryIds }: TranslateOrder,
  attemptMs: number,
): Promise<Translated | Refusal> {
  const glossary = await oneOfSeveral(x, services, glossaryIds, options);
  if ('problem' in glossary) return glossary;
  return services.translate(x, { text, options: { ...options, glossary }, glossaryId: undefined, attemptMs });
}

function answerOf({ text, options, showsBilled, modelType }: TranslateOrder, translations: readonly Translation[]): Outcome {
  let next = 0;
  const told = text.map((one) => {
    // Of an empty text the engine knows nothing.
    const translation = one === '' ? NOTHING : translations[next++]!;
    return {
      detected_source_language: translation.detectedSourceLanguage ?? options.sourceLang ?? UNDETERMINED,
      text: translation.text,
      billed_characters: showsBilled ? billedOf(one, translation) : undefined,
      model_type_used: modelType,
    };
  });
  return json(JSON.stringify({ translations: told }));
}

function billedOf(text: string, { isSpared }: Translation): number {
  return isSpared === true ? 0 : countCharacters(text);
}

/** After so many looks, between each of which a dictionary was replaced, it is given up. */
const LOOKS_MAX = 10;

/** One glossary of all their terms, or why there is none. `options` has a source language. */
async function oneOfSeveral(
  x: Exchange,
  services: GatewayServices,
  glossaryIds: readonly string[],
  { sourceLang, targetLang }: TranslationOptions,
): Promise<EngineGlossary | Refusal> {
  const { teamId } = x.need(keyOwnerSlot);
  const pair = { sourceLang: sourceLang!, targetLang, byBase: true };
  for (let look = 0; look < LOOKS_MAX; look++) {
    const dictionaryIds: string[] = [];
    for (const found of await Promise.all(glossaryIds.map((id) => findGlossary(services.glossaries, teamId, id)))) {
      if ('problem' in found) return found;
      const dictionary = dictionaryFor(found.dictionaries, pair);
      if (dictionary === undefined) return GLOSSARY_MISMATCH;
      dictionaryIds.push(dictionary.dictionaryId);
    }
    // Dictionaries never change under their ids, so neither do the terms of several of them.
    const merged = await services.mergedGlossary(teamId, dictionaryIds);
    if (isUnavailable(merged)) return STORE_UNAVAILABLE;
    // Otherwise one was replaced since it was found.
    if (merged !== undefined) return merged;
  }
  return CHANGING;
}
