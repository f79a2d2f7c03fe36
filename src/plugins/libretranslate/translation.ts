// POST /translate, in LibreTranslate's format or in DeepLX's, and POST /detect.
import { NOTHING_CHOSEN, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, Outcome, PluginHost, TextFormat, Translation } from 'lingate';
import Type from 'typebox';
import type { Members } from '../facades/members.ts';
import { answer, operation } from '../facades/operation.ts';
import type { ApiPart, CallerOffer } from '../facades/operation.ts';
import { objectSchema, readAll } from '../facades/parameters.ts';
import type { Judged, ParameterEntry } from '../facades/parameters.ts';
import { answered, oneOrMore, schemaOf, shown } from '../facades/reference.ts';
import { chargeFor, uncharged, judgeTexts, NO_TEXTS, inOrder, translateAll } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { API_KEY, BODY_TYPES, CODES, invalid, missing, TEXTS_MAX, tooMany } from './libretranslate-api.ts';
import { unavailablePair, unsupported } from './libretranslate-api.ts';
import type { LibreTranslateApi } from './libretranslate-api.ts';

/** Engines report a language without a confidence; it is the one from which they translated. */
const CONFIDENCE = 100;

interface Order {
  readonly texts: Texts;
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
  readonly format: TextFormat;
  /** How many other translations are requested. */
  readonly alternatives: number;
  isDeepLX: boolean;
  /** Whether the texts came as a list. */
  isList: boolean;
}
const NOTHING: Order = {
  texts: NO_TEXTS,
  sourceLang: undefined,
  targetLang: '',
  format: 'text',
  alternatives: 0,
  isDeepLX: false,
  isList: false,
};

type Entry = ParameterEntry<Order, CallerOffer>;

/** Source and target by the names of LibreTranslate or DeepLX, and whether the pair is offered. */
const pairNamed = (source: string, target: string, isRequired: boolean): readonly Entry[] => [
  {
    name: source,
    means: 'sourceLang',
    about: `The code of the source language${isRequired ? ', or `auto`' : '; without it, or with `auto`'}: the engine detects it.`,
    ...(isRequired && { missing }),
    read(value, named, _order, { languages }) {
      if (typeof value === 'string' && (isRequired ? value : value.toLowerCase()) === 'auto') return undefined;
      return CODES.source(value, languages) ?? unsupported('invalid_source_lang', named, value);
    },
  },
  {
    name: target,
    means: 'targetLang',
    about: 'The code of the target language; `en` and `pt` mean the variant that the operator has chosen.',
    missing: isRequired ? missing : (named) => unsupported('invalid_target_lang', named, undefined),
    read: (value, named, _order, { languages, variants }) =>
      CODES.target(value, languages, variants)?.code ?? unsupported('invalid_target_lang', named, value),
  },
  {
    check: ({ sourceLang, targetLang }, { languages }) =>
      languages.offers(sourceLang, targetLang) ? undefined : unavailablePair(sourceLang, targetLang, languages),
  },
];

const PAIR = pairNamed('source', 'target', true);

/** The languages of a translation, of which both must be given. */
export function pairIn(members: Members, offer: CallerOffer): Judged<Pick<Order, 'sourceLang' | 'targetLang'>> {
  const order: Order = { ...NOTHING };
  const refusal = readAll(PAIR, members, order, offer);
  return refusal ?? { sourceLang: order.sourceLang, targetLang: order.targetLang };
}

const FAULTS = {
  notText: () => invalid('Invalid request: the text must be a string or a list of strings'),
  half: () => invalid('Invalid request: the text has half of a surrogate pair'),
};

/** `isNeeded`: there must be one that is not empty. */
function textsOf(value: unknown, isNeeded: boolean): Judged<Texts> {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (entries.length === 0) return missing('q');
  return entries.length > TEXTS_MAX
    ? tooMany(entries.length)
    : judgeTexts(entries, { ...FAULTS, none: isNeeded ? missing('q') : undefined });
}

const WHOLE_NUMBER = /^\s*[+-]?\d{1,9}\s*$/;

const PARAMETERS: readonly Entry[] = [
  {
    name: 'q',
    means: 'texts',
    mayBeEmpty: true,
    about: `A text, or up to ${TEXTS_MAX}. In a form or the query, repeat it. Empty texts stay empty.`,
    schema: oneOrMore(TEXTS_MAX, ''),
    missing,
    read: (value) => textsOf(value, false),
  },
  ...PAIR,
  {
    name: 'format',
    means: 'format',
    about: '`text` (the default), or `html` if the engine supports it.',
    read(value, _named, { sourceLang, targetLang }, { canFor }) {
      if (value === 'text') return 'text';
      if (value !== 'html') return invalid('this format is not supported: use text or html');
      if (canFor(sourceLang, targetLang).formats.includes('html')) return 'html';
      return invalid('html format is not supported by the engine of this service: send text');
    },
  },
  {
    name: 'alternatives',
    means: 'alternatives',
    about: 'How many alternative translations are requested; there are none, so the list is empty.',
    schema: Type.Union([Type.Integer(), Type.String()]),
    read: (value) =>
      typeof value === 'number' || (typeof value === 'string' && WHOLE_NUMBER.test(value))
        ? Number(value)
        : invalid('Invalid request: alternatives parameter is not a number'),
  },
  API_KEY,
];

const DEEPLX_PARAMETERS: readonly Entry[] = [
  {
    name: 'text',
    means: 'texts',
    mayBeEmpty: true,
    about: 'The text.',
    missing,
    read: (value) => (typeof value === 'string' ? textsOf(value, false) : invalid('Invalid request: text must be a string')),
  },
  ...pairNamed('source_lang', 'target_lang', false),
  {
    name: 'tag_handling',
    means: 'format',
    about: '`html` or `xml`, if the engine supports it.',
    read: (value, _named, { sourceLang, targetLang }, { canFor }) =>
      canFor(sourceLang, targetLang).formats.find((known) => known === value && known !== 'text') ??
      invalid('tag_handling is not supported: use html or xml, if the engine of this service supports it'),
  },
  API_KEY,
];

const LIST = 'Several texts of unknown languages';
const ONE = { translatedText: 'Hallo, Welt!' };
const SEVERAL = {
  translatedText: ['Hola', 'Buenos días'],
  detectedLanguage: ['en', 'fr'].map((language) => ({ confidence: CONFIDENCE, language })),
};
const DEEPLX = { code: 200, id: 8356681003, data: 'Hallo, Welt!', alternatives: [], source_lang: 'EN', target_lang: 'DE', method: 'Free' };
const WORDS = {
  translatedText: 'In the shape of `q`.',
  detectedLanguage: 'In the shape of `q`; with `auto`, if the engine reports it.',
  confidence: 'Always 100: engines report no confidence.',
  language: 'The code.',
  alternatives: 'Empty, in the shape of `q`; only if requested.',
  id: 'Has no meaning.',
  data: 'The translation.',
  source_lang: 'The source language; empty if it is unknown.',
  target_lang: 'The target language.',
  method: 'Has no meaning.',
};
const [DETECTED] = SEVERAL.detectedLanguage;
const Answers = Type.Union([
  ...[
    [{ ...ONE, detectedLanguage: DETECTED, alternatives: [] }, ONE],
    [{ ...SEVERAL, alternatives: [] }, { translatedText: SEVERAL.translatedText }],
  ].map((values) => ({ ...schemaOf(values, WORDS), title: 'LibreTranslate' })),
  { ...schemaOf([DEEPLX], WORDS), title: 'DeepLX' },
]);

export function translation(api: LibreTranslateApi, host: PluginHost): ApiPart {
  return operation<Members, Order>(api, host, {
    name: 'translation',
    tag: 'Translation',
    scope: 'translate:text',
    at: 'POST /translate',
    summary: 'Translate texts',
    description:
      "Translates one text or several. Without a JSON body, parameters may also be in the query. Others are ignored. A request with `text` and without `q` is in DeepLX's format, and so is its answer; failures are the same.",
    parameters: PARAMETERS,
    body: {
      description: 'The texts, and how to translate them.',
      schema: Type.Union([objectSchema(PARAMETERS, { title: 'LibreTranslate' }), objectSchema(DEEPLX_PARAMETERS, { title: 'DeepLX' })]),
      example: { q: 'Hello, world!', source: 'en', target: 'de' },
      examples: {
        list: { summary: LIST, value: { q: ['Hello', 'Bonjour'], source: 'auto', target: 'es', format: 'text' } },
        deeplx: { summary: "A request of DeepLX's clients", value: { text: 'Hello, world!', source_lang: 'EN', target_lang: 'DE' } },
      },
      contentTypes: BODY_TYPES,
    },
    answer: {
      ...answered('The translations.', Answers, ONE),
      examples: { list: { summary: LIST, value: SEVERAL }, deeplx: { summary: "An answer for DeepLX's clients", value: DEEPLX } },
    },
    problems: TRANSLATION_PROBLEMS,
    read: (x, services) => api.members(x, services),
    nothing: NOTHING,
    judge(order, members, offer) {
      // LibreTranslate's requests always have `q`.
      order.isDeepLX = !members.has('q') && members.has('text');
      order.isList = Array.isArray(members.get('q'));
      return readAll(order.isDeepLX ? DEEPLX_PARAMETERS : PARAMETERS, members, order, offer);
    },
    charge: ({ texts }) => chargeFor(texts.characters),
    async run(order, x, services) {
      const { sourceLang, targetLang, format, texts, isDeepLX } = order;
      const options = { ...NOTHING_CHOSEN, sourceLang, targetLang, format };
      const found = await translateAll(services, x, { text: texts.text, options, glossaryId: undefined });
      if (found.kind !== 'translated') return found;
      return isDeepLX ? deepLXAnswer(x, order, found.translations) : answerOf(order, found.translations);
    },
  });
}

function answerOf({ isList, texts, sourceLang, alternatives }: Order, translations: readonly Translation[]): Outcome {
  const all = inOrder(texts.entries, translations, (one) => one);
  const detected = sourceLang === undefined ? detectedOf(all) : undefined;
  const translated = all.map((one) => one?.text ?? '');
  return answer({
    translatedText: isList ? translated : translated[0],
    detectedLanguage: isList ? detected : detected?.[0],
    // There are none: an engine gives one translation for each text.
    alternatives: alternatives > 0 ? (isList ? translated.map(() => []) : []) : undefined,
  });
}

/** For each text; without one, that of the first text with one. `undefined` if none has. */
function detectedOf(all: readonly (Translation | undefined)[]): readonly object[] | undefined {
  const first = all.find((one) => one?.detectedSourceLanguage !== undefined)?.detectedSourceLanguage;
  if (first === undefined) return undefined;
  return all.map((one) => ({ confidence: CONFIDENCE, language: CODES.theirs(one?.detectedSourceLanguage ?? first) }));
}

/** There is no translation of an empty text. */
function deepLXAnswer(x: Exchange, { sourceLang, targetLang }: Order, [only]: readonly Translation[]): Outcome {
  return answer({
    code: 200,
    id: numberOf(x.id),
    data: only?.text ?? '',
    alternatives: [],
    source_lang: only?.detectedSourceLanguage ?? sourceLang ?? '',
    target_lang: targetLang,
    method: 'Free',
  });
}

/** Clients expect a number: the random part of the id, small enough to be exact. */
function numberOf(requestId: string): number {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  return Array.from(requestId.slice(-10)).reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0);
}

const DETECTION_PARAMETERS: readonly ParameterEntry<Pick<Order, 'texts'>, CallerOffer>[] = [
  { name: 'q', means: 'texts', about: 'The text.', missing, read: (value) => textsOf(value, true) },
  API_KEY,
];

const CANNOT = invalid('The engine of this service does not detect languages: name the source of each translation');

export function detection(api: LibreTranslateApi, host: PluginHost): ApiPart {
  return operation<Members, Pick<Order, 'texts'>>(api, host, {
    name: 'detection',
    tag: 'Languages',
    scope: 'translate:text',
    at: 'POST /detect',
    summary: 'Detect a language',
    description: 'Detects the language of a text from its beginning. It counts towards the request rate and costs nothing.',
    parameters: DETECTION_PARAMETERS,
    body: { description: 'The text.', example: { q: 'Bonjour tout le monde' }, contentTypes: BODY_TYPES },
    answer: shown('The language, or an empty list if the engine cannot detect it.', WORDS, [{ confidence: CONFIDENCE, language: 'fr' }]),
    problems: ['text_too_long', 'engine_unavailable'],
    read: (x, services) => api.members(x, services),
    nothing: { texts: NO_TEXTS },
    judge: (order, members, offer, x, services) =>
      services.engineCanFor(x).detection ? readAll(DETECTION_PARAMETERS, members, order, offer) : CANNOT,
    charge: ({ texts }) => uncharged(texts.characters),
    async run({ texts }, x, services) {
      // A list is treated as one text: clients that send one have split a document.
      const found = await services.detect(x, [texts.text.join('\n')]);
      if (found.kind !== 'detected') return found;
      const [language] = found.languages;
      return answer(language === undefined ? [] : [{ confidence: CONFIDENCE, language: CODES.theirs(language) }]);
    },
  });
}
