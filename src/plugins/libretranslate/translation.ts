// POST /translate: in LibreTranslate's shape, or in that of DeepLX.
import { chargeSlot, isFormType, isMultipartType, json } from 'lingate';
import type { BodyStep, Exchange, GatewayServices, Outcome, Refusal, Slot, Translated, Translation } from 'lingate';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { Members } from '../facades/members.ts';
import { theirCode } from './codes.ts';
import { deepLXAnswer, isDeepLX, judgeDeepLX } from './deeplx.ts';
import { AUTHENTICATED, keySteps, readParameters } from './key-and-members.ts';
import type { ReadSlot } from './key-and-members.ts';
import { PROBLEM_FORM } from './libretranslate-document.ts';
import type { LibreTranslateOptions } from './libretranslate-options.ts';
import type { Order } from './translation-parameters.ts';
import { TRANSLATION_DOC } from './translation-doc.ts';
import { judgeTranslation } from './translation-parameters.ts';

/** Engines report a language without a confidence; it is the one that they translated from. */
export const CONFIDENCE = 100;

export function translation({ options, host }: PartSetup<LibreTranslateOptions>, read: ReadSlot): ApiPart {
  const slot = host.reserveSlot<Order>('translation');
  return {
    routes: [
      {
        method: 'POST',
        path: '/translate',
        takesBody: true,
        steps: [...AUTHENTICATED, 'libretranslate-read', 'admit', 'libretranslate-translate'],
        problemForm: PROBLEM_FORM,
        doc: TRANSLATION_DOC,
      },
    ],
    steps: (services) => [
      ...keySteps(services, options.api_key_in_body, read),
      readStep(services, slot, options, read),
      translateStep(services, slot),
    ],
  };
}

function readStep(services: GatewayServices, slot: Slot<Order>, options: LibreTranslateOptions, read: ReadSlot): BodyStep {
  return readParameters('libretranslate-read', services, read, (x, members) =>
    take(x, withLineFeeds(x.head.headers, members), services, slot, options),
  );
}

function take(
  x: Exchange,
  members: Members,
  services: GatewayServices,
  slot: Slot<Order>,
  options: LibreTranslateOptions,
): Refusal | undefined {
  const rules = { languages: services.languages(x), variants: options.default_variants, can: services.engineCan };
  const judged = isDeepLX(members) ? judgeDeepLX(members, rules) : judgeTranslation(members, rules);
  if ('problem' in judged) return judged;
  const refusal = services.refusalFor(x, judged.sound.options);
  if (refusal !== undefined) return refusal;
  x.set(slot, judged.sound);
  x.set(chargeSlot, { characters: judged.sound.characters, reserve: true, glossary: undefined, refusal: undefined });
  return undefined;
}

function translateStep(services: GatewayServices, slot: Slot<Order>): BodyStep {
  return {
    kind: 'body',
    name: 'libretranslate-translate',
    headers: ['traceparent'],
    run(x) {
      const order = x.need(slot);
      const tell = (told: Translated | Refusal): Outcome => (told.kind === 'translated' ? answerOf(x, order, told.translations) : told);
      return services.translate(x, { text: order.text, options: order.options, glossaryId: undefined }).then(tell);
    },
  };
}

function answerOf(x: Exchange, order: Order, translations: readonly Translation[]): Outcome {
  const { shape, entries } = order;
  if (shape.kind === 'deeplx') return deepLXAnswer(x, order, translations);
  let next = 0;
  const all = entries.map((entry) => (entry === '' ? undefined : translations[next++]!));
  const detected = order.options.sourceLang === undefined ? detectedOf(all) : undefined;
  const texts = all.map((one) => one?.text ?? '');
  return json(
    JSON.stringify({
      translatedText: shape.isList ? texts : texts[0],
      detectedLanguage: shape.isList ? detected : detected?.[0],
      // There are none: an engine gives one translation of a text.
      alternatives: shape.alternatives ? (shape.isList ? texts.map(() => []) : []) : undefined,
    }),
  );
}

/** One for each text; a text without a detected language gets the first one's that has. `undefined` where none has. */
function detectedOf(all: readonly (Translation | undefined)[]): readonly object[] | undefined {
  const first = all.find((one) => one?.detectedSourceLanguage !== undefined)?.detectedSourceLanguage;
  if (first === undefined) return undefined;
  return all.map((one) => ({ confidence: CONFIDENCE, language: theirCode(one?.detectedSourceLanguage ?? first) }));
}

const RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The text of a form with line feeds alone, as LibreTranslate reads it: nobody is charged for what a browser adds. */
function withLineFeeds(headers: Readonly<Record<string, string>>, members: Members): Members {
  if (!isFormType(headers) && !isMultipartType(headers)) return members;
  return new Map([...members].map(([name, value]) => [name, lineFeeds(value)]));
}

function lineFeeds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lineFeeds);
  return typeof value === 'string' && value.includes('\r\n') ? withoutReturns(value) : value;
}

/** In bytes: half a million pieces of a string would keep the event loop for tens of milliseconds. What a form holds is well-formed. */
function withoutReturns(text: string): string {
  const bytes = Buffer.from(text);
  let kept = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== RETURN || bytes[at + 1] !== LINE_FEED) bytes[kept++] = bytes[at]!;
  }
  return bytes.toString('utf8', 0, kept);
}
