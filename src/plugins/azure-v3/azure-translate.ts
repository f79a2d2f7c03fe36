// POST /translate: texts into one or several languages, charged once for each language.
import { chargedCharacters, json, JSON_BODY_HEADERS, NOTHING_CHOSEN, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, GatewayServices, Outcome, PluginHost, RouteDoc, Translation, TranslationOptions } from 'lingate';
import Type from 'typebox';
import { canFor, chargeFor, engineStep, readStep, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, arrayOf, number, parameter, string } from '../facades/reference.ts';
import { allOrRefusal, toldOf } from '../facades/texts.ts';
import { theirCode } from './azure-languages.ts';
import { judgeTranslation, readTranslation } from './azure-parameters.ts';
import type { AzureOrder } from './azure-parameters.ts';
import { API_VERSION, AUTHENTICATED, readTexts, TextsBody } from './azure-request.ts';

/** Engines report a language without a confidence; it is the one from which they translated. */
export const SCORE = 1;

const Language = Type.Object(
  { language: string('The code.'), score: number('Always 1: engines report no confidence.') },
  { description: 'Without `from`, if the engine reports it.' },
);
const Translated = Type.Object({
  detectedLanguage: Type.Optional(Language),
  translations: arrayOf(
    Type.Object({ text: string('The translation.'), to: string('The code as in `to`.') }),
    'One for each `to`, in order.',
  ),
});

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    'Translates up to 50 texts, each into every language of `to`, all or nothing. Their characters are charged once for each language. Other parameters are ignored, except `fromScript` and `toScript`, which are refused.',
  authenticated: true,
  tag: 'Translation',
  query: [
    API_VERSION,
    {
      name: 'to',
      description: 'The code of a target language; up to 50 times. `en` and `pt` mean the variant that the operator has chosen.',
      schema: Type.Array(Type.String(), { minItems: 1, maxItems: 50 }),
      required: true,
      example: ['de'],
    },
    parameter('from', 'en', 'The code of the source language. By default the engine detects it.'),
    parameter('textType', 'plain', '`plain` (the default), or `html` if the engine supports it.'),
    parameter('category', 'general', '`general`; others are refused, because there are no custom systems.'),
    parameter('suggestedFrom', 'en', 'A source code; has no effect.'),
    parameter('allowFallback', 'true', '`true` or `false`; has no effect.'),
    parameter('profanityAction', 'NoAction', '`NoAction`; `Marked` and `Deleted` are refused.'),
    parameter('profanityMarker', 'Asterisk', '`Asterisk` or `Tag`; has no effect.'),
    parameter('includeAlignment', 'false', '`false`; `true` is refused.'),
    parameter('includeSentenceLength', 'false', '`false`; `true` is refused.'),
  ],
  body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Hello' }] },
  answer: {
    ...answered('One entry for each text, in order.', Type.Array(Translated), [{ translations: [{ text: 'Hallo', to: 'de' }] }]),
    headers: { 'X-metered-usage': { description: 'The characters that were charged.', example: '5' } },
  },
  problems: TRANSLATION_PROBLEMS,
};

export function translate(host: PluginHost, variants: DefaultVariants): ApiPart {
  const slot = host.reserveSlot<AzureOrder>('translation');
  return {
    routes: [route('POST', '/translate', [...AUTHENTICATED, 'azure-read-translation', 'admit', 'azure-translate'], DOC)],
    steps(services) {
      const read = readStep(
        'azure-read-translation',
        JSON_BODY_HEADERS,
        services,
        (x) => readTranslation(x.head.query, () => readTexts(x.head.headers, x.body, services.bodyBytesMax)),
        (x, parsed) => {
          const judged = judgeTranslation(parsed, { languages: services.languages(x), variants, canFor: canFor(services, x) });
          if (!('sound' in judged)) return judged;
          const order = judged.sound;
          x.set(slot, order);
          return chargeFor(order.characters);
        },
      );
      return [read, engineStep('azure-translate', slot, (x, order) => translated(x, services, order))];
    },
  };
}

function optionsOf({ sourceLang, format }: AzureOrder, targetLang: string): TranslationOptions {
  return { ...NOTHING_CHOSEN, sourceLang, targetLang, format };
}

function translated(x: Exchange, services: GatewayServices, order: AzureOrder): Outcome | Promise<Outcome> {
  const { text: texts, targets } = order;
  if (texts.length === 0) return answerOf(x, order, []);
  const works = targets.map(({ targetLang }) =>
    services.translate(x, { text: texts, options: optionsOf(order, targetLang), glossaryId: undefined }),
  );
  // At the same time and not one after another, because the reservation lasts for two attempts.
  return allOrRefusal(works).then((all) => {
    if ('problem' in all) return all;
    const ofText = (index: number): readonly Translation[] => all.map(({ translations }) => translations[index]!);
    return answerOf(x, order, Array.from(texts.keys(), ofText));
  });
}

/** `translations` has, for each non-empty text, one translation per target. */
function answerOf(x: Exchange, { entries, targets, sourceLang }: AzureOrder, translations: readonly (readonly Translation[])[]): Outcome {
  const told = toldOf(entries, translations, (all) => {
    const language = sourceLang === undefined ? all?.[0]!.detectedSourceLanguage : undefined;
    return {
      detectedLanguage: language === undefined ? undefined : { language: theirCode(language), score: SCORE },
      translations: targets.map(({ to }, index) => ({ text: all?.[index]!.text ?? '', to })),
    };
  });
  return json(JSON.stringify(told), 200, [['X-metered-usage', String(chargedCharacters(x))]]);
}
