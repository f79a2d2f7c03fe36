// POST /v2/translate.
import { countCharacters, NO_SUCH_GLOSSARY, TRANSLATION_PROBLEMS } from 'lingate';
import type { Charge, Exchange, GatewayServices, Outcome, PluginHost, Refusal, RouteDoc, Translated, Translation } from 'lingate';
import Type from 'typebox';
import { answer, chargeFor, engineStep, offerTo, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import { objectSchema } from '../facades/parameters.ts';
import { answered, integer, JSON_OR_FORM, optional, string } from '../facades/reference.ts';
import { toldOf, translateAll } from '../facades/texts.ts';
import { AUTHENTICATED, readBody } from './deepl-request.ts';
import { NOT_FOUND } from './glossary-answer.ts';
import { oneOfSeveral } from './glossary-steps.ts';
import { markupStep } from './markup-charge.ts';
import { keptMarkup } from './markup-kept.ts';
import { BODY, judgeTranslation, TEXTS_LIMIT } from './translate-body.ts';
import type { TranslateOrder } from './translate-body.ts';

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description: 'Translates up to 50 texts, all or none of them.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'As a form or as JSON.',
    schema: objectSchema(BODY),
    example: { text: ['Hello'], target_lang: 'DE' },
    contentTypes: JSON_OR_FORM,
  },
  answer: answered(
    'All texts are translated, and charged.',
    Type.Object({
      translations: Type.Array(
        Type.Object({
          detected_source_language: string('`UND` if it is unknown.'),
          text: string('The translation.'),
          billed_characters: Type.Optional(integer('With `show_billed_characters`.')),
          model_type_used: optional('With `model_type`.'),
        }),
        { description: 'One per text, in the order of the texts.' },
      ),
    }),
    { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] },
  ),
  problems: [...TRANSLATION_PROBLEMS, 'glossary_not_found'],
};

/** For the manual's table of parameters. */
export const DEEPL_OPERATION: DescribedOperation = { api: 'DeepL /v2/translate', parameters: BODY, others: 'without effect' };

/** Clients expect a language for every text: this is ISO 639's code for an undetermined one. */
const UNDETERMINED = 'UND';

/** About as long as the most impatient client waits: one attempt that may succeed is better than two that are too short. */
export const ATTEMPT_MS = 4500;

interface TranslateSettings {
  readonly variants: DefaultVariants;
  readonly attemptMs: number | undefined;
  readonly passesStyle: boolean;
  readonly isMarkupFree: boolean;
}

const STEPS = [...AUTHENTICATED, 'deepl-read-translation', 'deepl-read-markup', 'admit', 'deepl-translate'];

export function translate(host: PluginHost, { variants, attemptMs, passesStyle, isMarkupFree }: TranslateSettings): ApiPart {
  const slot = host.reserveSlot<TranslateOrder>('translation');
  const charged = host.reserveSlot<readonly number[]>('what is charged for each text');
  return {
    routes: [route('POST', '/v2/translate', STEPS, DOC, 'translate:text')],
    steps(services) {
      if (attemptMs !== undefined && attemptMs < services.engineTimeoutMs) {
        host.warn('attempt_timeout_ms is less than engine.timeout_ms: translations that take longer fail for this API alone', {
          attempt_timeout_ms: attemptMs,
          engine_timeout_ms: services.engineTimeoutMs,
        });
      }
      const read = readBody(
        'deepl-read-translation',
        services,
        (x, members) => {
          const judged = judgeTranslation(members, { ...offerTo(x, services, variants), passesStyle });
          if (!('sound' in judged)) return judged;
          x.set(slot, judged.sound);
          return chargeOf(judged.sound);
        },
        TEXTS_LIMIT,
      );
      const ask = engineStep('deepl-translate', slot, (x, order) =>
        translated(x, services, order, { attemptMs: attemptMs ?? ATTEMPT_MS, charged: x.get(charged) }).then(async (told) => {
          if (told.kind === 'translated')
            return answerOf(order, await withMarkup(order, told.translations, x.get(charged)), x.get(charged));
          // It was deleted after the admission had found it.
          return told === NO_SUCH_GLOSSARY ? NOT_FOUND : told;
        }),
      );
      return [read, markupStep('deepl-read-markup', { order: slot, charged, isFree: isMarkupFree }), ask];
    },
  };
}

function chargeOf({ characters, glossaryIds, options }: TranslateOrder): Charge {
  const { sourceLang, targetLang } = options;
  const [glossaryId] = glossaryIds;
  // Glossaries always need a source language. Here their languages are compared without regions.
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
  return { ...chargeFor(characters, glossary), missingGlossary: NOT_FOUND };
}

/** What is the same for all pieces of a translation. */
interface Terms {
  readonly attemptMs: number;
  /** For each text, empty ones included; `undefined` if all characters are charged. */
  readonly charged: readonly number[] | undefined;
}

async function translated(
  x: Exchange,
  services: GatewayServices,
  { entries, text, options, glossaryIds }: TranslateOrder,
  { attemptMs, charged }: Terms,
): Promise<Translated | Refusal> {
  const order = { text, options, attemptMs, charged: charged?.filter((_one, i) => entries[i] !== '') };
  // The admission only looks for the glossary of texts that are charged.
  if (glossaryIds.length === 0 || (glossaryIds.length === 1 && text.length > 0)) {
    return translateAll(services, x, { ...order, glossaryId: glossaryIds[0] });
  }
  const glossary = await oneOfSeveral(x, services, glossaryIds, options);
  if ('problem' in glossary) return glossary;
  return translateAll(services, x, { ...order, options: { ...options, glossary }, glossaryId: undefined });
}

/** With the markup of texts that is not charged as it was sent. */
async function withMarkup(
  { text, entries, options: { format } }: TranslateOrder,
  translations: readonly Translation[],
  charged: Terms['charged'],
): Promise<readonly Translation[]> {
  if (charged === undefined || format === 'text') return translations;
  const each = charged.filter((_one, i) => entries[i] !== '');
  const kept: Translation[] = [];
  for (const [i, one] of translations.entries()) {
    const hasFree = each[i]! < countCharacters(text[i]!);
    kept.push(hasFree ? { ...one, text: await keptMarkup(text[i]!, one.text, format) } : one);
  }
  return kept;
}

function answerOf(
  { entries, options, showsBilled, modelType }: TranslateOrder,
  translations: readonly Translation[],
  charged: Terms['charged'],
): Outcome {
  const told = toldOf(entries, translations, (one, entry, index) => ({
    detected_source_language: one?.detectedSourceLanguage ?? options.sourceLang ?? UNDETERMINED,
    text: one?.text ?? '',
    billed_characters: showsBilled ? (one?.isSpared === true ? 0 : (charged?.[index] ?? countCharacters(entry))) : undefined,
    model_type_used: modelType,
  }));
  return answer({ translations: told });
}
