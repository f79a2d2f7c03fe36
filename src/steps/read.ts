// Parses and judges the body of a translation, and leaves its charge for the admission.
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, refusedCharge } from '../domain/charge.ts';
import type { Charge } from '../domain/charge.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import type { Languages } from '../domain/languages.ts';
import { translateRequestSlot } from '../domain/slots.ts';
import { compileTranslateBody, judgeTranslateBody, TEXTS_LIMIT } from '../domain/translate-request.ts';
import type { TranslateRequest } from '../domain/translate-request.ts';

/**
 * `languages` is asked anew for each request: the operator may change the list while we run. `glossaries` says whether the
 * engine takes any.
 */
export function readStep(languages: () => Languages, bodyBytesMax: number, glossaries = true): BodyStep {
  compileTranslateBody();
  return {
    kind: 'body',
    name: 'read',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const json = readJsonBody(x.head.headers, x.body, bodyBytesMax, TEXTS_LIMIT);
      // The bytes are not needed again; a slow engine must not keep them alive.
      x.body = 'none';
      if (json.kind !== 'value') {
        x.set(chargeSlot, refusedCharge(json.refusal));
        return undefined;
      }
      const judged = judgeTranslateBody(json.value, languages(), glossaries);
      if (judged.kind === 'invalid') {
        x.set(chargeSlot, refusedCharge(judged.refusal, judged.characters));
        return undefined;
      }
      x.set(translateRequestSlot, judged.request);
      x.set(chargeSlot, chargeOf(judged.request));
      return undefined;
    },
  };
}

function chargeOf({ characters, glossaryId, options }: TranslateRequest): Charge {
  // There is a source language: the body's rules require one with a glossary.
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: options.sourceLang!, targetLang: options.targetLang };
  return { characters, reserve: true, glossary, refusal: undefined };
}
