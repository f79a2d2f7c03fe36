// POST /translate: texts into one or several languages, charged once for each of them.
import { chargedCharacters, json, NOTHING_CHOSEN, refusedCharge, TRANSLATION_PROBLEMS } from 'lingate';
import type { Exchange, GatewayServices, Outcome, PluginHost, Refusal, RouteDoc, Translation, TranslationOptions } from 'lingate';
import Type from 'typebox';
import { chargeFor, engineStep, readStep, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, parameter, string } from '../facades/reference.ts';
import { allOrRefusal, toldOf } from '../facades/texts.ts';
import { theirCode } from './azure-codes.ts';
import { judgeTranslation } from './azure-parameters.ts';
import type { AzureOrder } from './azure-parameters.ts';
import { API_VERSION, AUTHENTICATED, readTexts, TEXTS_HEADERS, TextsBody } from './azure-request.ts';

/** Engines report a language and not how sure they are; it is the one that they translated from. */
export const SCORE = 1;

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description:
    'Translates up to 50 texts, each into every language of `to`, all or nothing. Their characters are charged once for each language. Parameters beyond these are ignored, but `fromScript` and `toScript` are refused.',
  authenticated: true,
  tag: 'Translation',
  query: [
    API_VERSION,
    {
      name: 'to',
      description: 'A code to translate into; given up to 50 times. `en` and `pt` mean the variant that the operator has chosen.',
      schema: Type.Array(Type.String(), { minItems: 1, maxItems: 50 }),
      required: true,
      example: ['de'],
    },
    parameter('from', 'en', 'The code of what the texts are in. Without it the engine finds out.'),
    parameter('textType', 'plain', '`plain`, the default, or `html` where the engine handles it.'),
    parameter('category', 'general', '`general`; another one is refused: there are no custom systems.'),
    parameter('suggestedFrom', 'en', 'A source code; without effect.'),
    parameter('allowFallback', 'true', '`true` or `false`; without effect.'),
    parameter('profanityAction', 'NoAction', '`NoAction`; `Marked` and `Deleted` are refused.'),
    parameter('profanityMarker', 'Asterisk', '`Asterisk` or `Tag`; without effect.'),
    parameter('includeAlignment', 'false', '`false`; `true` is refused.'),
    parameter('includeSentenceLength', 'false', '`false`; `true` is refused.'),
  ],
  body: { description: 'The texts.', schema: TextsBody, example: [{ Text: 'Hello' }] },
  answer: {
    ...answered(
      'An entry for each text, in their order.',
      Type.Array(
        Type.Object({
          detectedLanguage: Type.Optional(
            Type.Object(
              {
                language: string('The code.'),
                score: Type.Number({ description: 'Always 1: engines tell a language and not how sure they are.' }),
              },
              { description: 'Without `from`, where the engine tells.' },
            ),
          ),
          translations: Type.Array(Type.Object({ text: string('The translation.'), to: string('The code as in `to`.') }), {
            description: 'One for each `to`, in their order.',
          }),
        }),
      ),
      [{ translations: [{ text: 'Hallo', to: 'de' }] }],
    ),
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
        TEXTS_HEADERS,
        services,
        (x) => {
          const { head, body } = x;
          const rules = { languages: services.languages(x), variants, can: services.engineCan };
          return judgeTranslation(head.query, () => readTexts(head.headers, body, services.bodyBytesMax), rules);
        },
        (x, order) => {
          const refusal = refusalOf(x, services, order);
          if (refusal !== undefined) return refusedCharge(refusal, order.characters);
          x.set(slot, order);
          // Texts that are all empty cost nothing.
          return chargeFor(order.characters, order.characters > 0);
        },
      );
      return [read, engineStep('azure-translate', slot, (x, order) => translated(x, services, order))];
    },
  };
}

/** Where no engine does all of it for one of the targets. */
function refusalOf(x: Exchange, services: GatewayServices, order: AzureOrder): Refusal | undefined {
  for (const { targetLang } of order.targets) {
    const refusal = services.refusalFor(x, optionsOf(order, targetLang));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
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
  // At once and not one after another: the reservation lasts for two attempts.
  return allOrRefusal(works).then((all) => {
    if ('problem' in all) return all;
    const ofText = (index: number): readonly Translation[] => all.map(({ translations }) => translations[index]!);
    return answerOf(x, order, Array.from(texts.keys(), ofText));
  });
}

/** `translations` are those of each text that is not empty, one for each target. */
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
