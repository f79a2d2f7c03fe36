// Parses and validates the body of a translation, and sets its charge for the admission.
import type { Exchange } from '../core/exchange.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, judgeAgainSlot, refusedCharge, translateRequestSlot } from '../domain/slots.ts';
import type { Charge } from '../domain/slots.ts';
import { offerFor } from '../domain/engine-offer.ts';
import type { CurrentOffers, EngineOffer } from '../domain/engine-offer.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import { judgeTranslateBody, tooManyTexts } from '../domain/translate-request.ts';

export function readStep(offers: CurrentOffers, bodyBytesMax: number): BodyStep {
  return {
    kind: 'body',
    name: 'read',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const json = readJsonBody(x.head.headers, x.body, bodyBytesMax, tooManyTexts);
      // The bytes are not needed again and must not stay in memory for a slow engine.
      x.body = 'none';
      if (json.kind !== 'value') {
        x.set(chargeSlot, refusedCharge(json.refusal));
        return undefined;
      }
      const { any, byPlan } = offers.current;
      const charge = judged(x, json.value, any);
      x.set(chargeSlot, charge);
      if (byPlan) judgeLater(x, json.value, charge, offers);
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
