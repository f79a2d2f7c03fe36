// POST /v2/translate.
import { countCharacters, NO_SUCH_GLOSSARY, TRANSLATION_PROBLEMS } from 'lingate';
import type { Charge, Exchange, GatewayServices, Outcome, PluginHost, Refusal, RouteDoc, Translated, Translation } from 'lingate';
import Type from 'typebox';
import { answer, canFor, chargeFor, engineStep, route } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { answered, integer, JSON_OR_FORM, optional, string } from '../facades/reference.ts';
import { toldOf, translateAll } from '../facades/texts.ts';
import { AUTHENTICATED, readBody } from './deepl-request.ts';
import { NOT_FOUND } from './glossary-answer.ts';
import { oneOfSeveral } from './glossary-steps.ts';
import { judgeTranslation, TEXTS_LIMIT } from './translate-body.ts';
import type { TranslateOrder } from './translate-body.ts';

/** Other parameters are ignored, except `style_id`, `translation_memory_id` and `custom_instructions`, which are refused. */
const Body = Type.Object({
  text: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 50,
    description: 'The texts to translate. An empty text among others stays empty. In a form, repeat the field.',
  }),
  target_lang: string('A target code in any case; `EN` and `PT` mean the variant that the operator has chosen.'),
  source_lang: optional('By default the engine detects it.'),
  formality: optional('`default`, `more`, `less`, `prefer_more` or `prefer_less`.'),
  context: optional('Helps the engine; neither translated nor charged.'),
  glossary_id: optional('Its languages are compared without regions.'),
  glossary_ids: optional('Up to five glossaries, in a list or separated by commas: for each term, the first one that has it is used.'),
  tag_handling: optional('`xml` or `html`, if the engine supports it.'),
  ignore_tags: optional('Elements that are not translated, separated by commas or in a list. Only with `xml`.'),
  show_billed_characters: optional('`1`: the answer has the characters charged for each text.'),
  model_type: optional('Returned as `model_type_used`; has no effect.'),
  split_sentences: optional('`0`, `1` or `nonewlines`; has no effect.'),
  preserve_formatting: optional('`0` or `1`; has no effect.'),
});

const DOC: RouteDoc = {
  summary: 'Translate texts',
  description: 'Translates up to 50 texts, all or none of them.',
  authenticated: true,
  tag: 'Translation',
  body: {
    description: 'As a form or as JSON.',
    schema: Body,
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

/** Clients expect a language for every text: this is ISO 639's code for an undetermined one. */
const UNDETERMINED = 'UND';

/** About as long as the most impatient client waits: one attempt that may succeed is better than two that are too short. */
export const ATTEMPT_MS = 4500;

export function translate(host: PluginHost, variants: DefaultVariants, attemptMs: number | undefined): ApiPart {
  const slot = host.reserveSlot<TranslateOrder>('translation');
  return {
    routes: [route('POST', '/v2/translate', [...AUTHENTICATED, 'deepl-read-translation', 'admit', 'deepl-translate'], DOC)],
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
          const judged = judgeTranslation(members, { languages: services.languages(x), variants, canFor: canFor(services, x) });
          if (!('sound' in judged)) return judged;
          x.set(slot, judged.sound);
          return chargeOf(judged.sound);
        },
        TEXTS_LIMIT,
      );
      const ask = engineStep('deepl-translate', slot, (x, order) =>
        translated(x, services, order, attemptMs ?? ATTEMPT_MS).then((told) => {
          if (told.kind === 'translated') return answerOf(order, told.translations);
          // It was deleted after the admission had found it.
          return told === NO_SUCH_GLOSSARY ? NOT_FOUND : told;
        }),
      );
      return [read, ask];
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

function translated(x: Exchange, services: GatewayServices, order: TranslateOrder, attemptMs: number): Promise<Translated | Refusal> {
  const { text, options, glossaryIds } = order;
  // The admission only looks for the glossary of texts that are charged.
  if (glossaryIds.length === 0 || (glossaryIds.length === 1 && text.length > 0)) {
    return translateAll(services, x, { text, options, glossaryId: glossaryIds[0], attemptMs });
  }
  return oneOfSeveral(x, services, glossaryIds, options).then((glossary) => {
    if ('problem' in glossary) return glossary;
    return translateAll(services, x, { text, options: { ...options, glossary }, glossaryId: undefined, attemptMs });
  });
}

function answerOf({ entries, options, showsBilled, modelType }: TranslateOrder, translations: readonly Translation[]): Outcome {
  const told = toldOf(entries, translations, (one, entry) => ({
    detected_source_language: one?.detectedSourceLanguage ?? options.sourceLang ?? UNDETERMINED,
    text: one?.text ?? '',
    billed_characters: showsBilled ? (one?.isSpared === true ? 0 : countCharacters(entry)) : undefined,
    model_type_used: modelType,
  }));
  return answer({ translations: told });
}
