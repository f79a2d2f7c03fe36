// POST /translate: in LibreTranslate's format, or in DeepLX's.
import { TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, Outcome, PluginHost, RouteDoc, Translation } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, engineStep, offerTo, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { lowerBase } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { KeyOptions, ReadSlot } from '../facades/keys.ts';
import { isJsonType } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import { answered, integer, number, oneOrMore, optional, string } from '../facades/reference.ts';
import { toldOf, translateAll } from '../facades/texts.ts';
import { ApiKey, AUTHENTICATED, BODY_TYPES, keySteps, readParameters, TEXTS_MAX } from './libretranslate-request.ts';
import { isDeepLX, judgeDeepLX, judgeTranslation } from './translation-parameters.ts';
import type { Order } from './translation-parameters.ts';

/** Engines report a language without a confidence; it is the one from which they translated. */
export const CONFIDENCE = 100;

const LibreTranslateBody = Type.Object(
  {
    q: oneOrMore(TEXTS_MAX, `A text, or up to ${TEXTS_MAX}. In a form or the query, repeat it. Empty texts stay empty.`),
    source: string('The code of the source language, or `auto`: the engine detects it.'),
    target: string('The code of the target language; `en` and `pt` mean the variant that the operator has chosen.'),
    format: optional('`text` (the default), or `html` if the engine supports it.'),
    alternatives: Type.Optional(
      Type.Union([Type.Integer(), Type.String()], {
        description: 'How many alternative translations are requested; there are none, so the list is empty.',
      }),
    ),
    api_key: ApiKey,
  },
  { title: 'LibreTranslate' },
);

const DeepLXBody = Type.Object(
  {
    text: string('The text.'),
    source_lang: optional('The code of the source language; without it, or with `auto`, the engine detects it.'),
    target_lang: string('The code of the target language.'),
    tag_handling: optional('`html` or `xml`, if the engine supports it.'),
    api_key: ApiKey,
  },
  { title: 'DeepLX' },
);

const Detected = Type.Object({
  confidence: number('Always 100: engines report no confidence.'),
  language: string('The code.'),
});

const LibreTranslateAnswer = Type.Object(
  {
    translatedText: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'In the shape of `q`.' }),
    detectedLanguage: Type.Optional(
      Type.Union([Detected, Type.Array(Detected)], { description: 'In the shape of `q`; with `auto`, if the engine reports it.' }),
    ),
    alternatives: Type.Optional(Type.Array(Type.Unknown(), { description: 'Empty, in the shape of `q`; only if requested.' })),
  },
  { title: 'LibreTranslate' },
);

const DeepLXAnswer = Type.Object(
  {
    code: Type.Literal(200),
    id: integer('Has no meaning.'),
    data: string('The translation.'),
    alternatives: Type.Array(Type.String(), { description: 'Always empty.' }),
    source_lang: string('The source language; empty if it is unknown.'),
    target_lang: string('The target language.'),
    method: string('Has no meaning.'),
  },
  { title: 'DeepLX' },
);

const LIST_ANSWER = {
  translatedText: ['Hola', 'Buenos días'],
  detectedLanguage: ['en', 'fr'].map((language) => ({ confidence: 100, language })),
};
const DEEPLX = { code: 200, id: 8356681003, data: 'Hallo, Welt!', alternatives: [], source_lang: 'EN', target_lang: 'DE', method: 'Free' };
const LIST = 'Several texts of unknown languages';

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    "Translates one text or several. Without a JSON body, parameters may also be in the query. Others are ignored. A request with `text` and without `q` is in DeepLX's format, and so is its answer; failures are the same.",
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'The texts, and how to translate them.',
    schema: Type.Union([LibreTranslateBody, DeepLXBody]),
    example: { q: 'Hello, world!', source: 'en', target: 'de' },
    examples: {
      list: { summary: LIST, value: { q: ['Hello', 'Bonjour'], source: 'auto', target: 'es', format: 'text' } },
      deeplx: { summary: "A request of DeepLX's clients", value: { text: 'Hello, world!', source_lang: 'EN', target_lang: 'DE' } },
    },
    contentTypes: BODY_TYPES,
  },
  answer: {
    ...answered('The translations.', Type.Union([LibreTranslateAnswer, DeepLXAnswer]), { translatedText: 'Hallo, Welt!' }),
    examples: {
      list: { summary: LIST, value: LIST_ANSWER },
      deeplx: { summary: "An answer for DeepLX's clients", value: DEEPLX },
    },
  },
  problems: TRANSLATION_PROBLEMS,
};

export function translation(host: PluginHost, variants: DefaultVariants, key: KeyOptions, read: ReadSlot): ApiPart {
  const slot = host.reserveSlot<Order>('translation');
  return {
    routes: [
      route('POST', '/translate', [...AUTHENTICATED, 'libretranslate-read', 'admit', 'libretranslate-translate'], DOC, 'translate:text'),
    ],
    steps: (services) => [
      ...keySteps(services, key, read),
      readParameters('libretranslate-read', services, read, (x, given) => {
        const members = withLineFeeds(x.head.headers, given);
        const offer = offerTo(x, services, variants);
        const judged = isDeepLX(members) ? judgeDeepLX(members, offer) : judgeTranslation(members, offer);
        if ('problem' in judged) return judged;
        x.set(slot, judged.sound);
        return chargeFor(judged.sound.characters);
      }),
      engineStep('libretranslate-translate', slot, (x, order) =>
        translateAll(services, x, { text: order.text, options: order.options, glossaryId: undefined }).then((told) =>
          told.kind === 'translated' ? answerOf(x, order, told.translations) : told,
        ),
      ),
    ],
  };
}

function answerOf(x: Exchange, order: Order, translations: readonly Translation[]): Outcome {
  const { shape, entries } = order;
  if (shape.kind === 'deeplx') return deepLXAnswer(x, order, translations);
  const all = toldOf(entries, translations, (one) => one);
  const detected = order.options.sourceLang === undefined ? detectedOf(all) : undefined;
  const texts = all.map((one) => one?.text ?? '');
  return answer({
    translatedText: shape.isList ? texts : texts[0],
    detectedLanguage: shape.isList ? detected : detected?.[0],
    // There are none: an engine gives one translation for each text.
    alternatives: shape.alternatives ? (shape.isList ? texts.map(() => []) : []) : undefined,
  });
}

/** One for each text; a text without a detected language gets that of the first text with one. `undefined` if none has one. */
function detectedOf(all: readonly (Translation | undefined)[]): readonly object[] | undefined {
  const first = all.find((one) => one?.detectedSourceLanguage !== undefined)?.detectedSourceLanguage;
  if (first === undefined) return undefined;
  return all.map((one) => ({ confidence: CONFIDENCE, language: lowerBase(one?.detectedSourceLanguage ?? first) }));
}

/** There is no translation of an empty text. */
function deepLXAnswer(x: Exchange, { options }: Order, [only]: readonly Translation[]): Outcome {
  return answer({
    code: 200,
    id: numberOf(x.id),
    data: only?.text ?? '',
    alternatives: [],
    source_lang: only?.detectedSourceLanguage ?? options.sourceLang ?? '',
    target_lang: options.targetLang,
    method: 'Free',
  });
}

/** Clients expect a number: made from the random part of the request's id, and small enough to be exact in JavaScript. */
function numberOf(requestId: string): number {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from(requestId.slice(-10)).reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}

const RETURN = 0x0d;
const LINE_FEED = 0x0a;

/** The text of a form or a query with line feeds only, as LibreTranslate reads it, so that nobody is charged for what a browser adds. */
function withLineFeeds(headers: Readonly<Record<string, string>>, members: Members): Members {
  if (isJsonType(headers)) return members;
  return new Map([...members].map(([name, value]) => [name, lineFeeds(value)]));
}

function lineFeeds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lineFeeds);
  return typeof value === 'string' && value.includes('\r\n') ? withoutReturns(value) : value;
}

/** In bytes: splitting into half a million strings would block the event loop for tens of milliseconds. The form is well-formed. */
function withoutReturns(text: string): string {
  const bytes = Buffer.from(text);
  let kept = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== RETURN || bytes[at + 1] !== LINE_FEED) bytes[kept++] = bytes[at]!;
  }
  return bytes.toString('utf8', 0, kept);
}
