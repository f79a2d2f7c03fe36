// POST /v2/translate.
import { countCharacters, NO_SUCH_GLOSSARY, refuse, TRANSLATION_PROBLEMS } from 'lingate';
import type { Charge, Exchange, GatewayServices, PluginHost, Refusal, Translated, Translation } from 'lingate';
import type { Members } from '../facades/members.ts';
import { answer, operation } from '../facades/operation.ts';
import type { ApiPart, FacadeApi } from '../facades/operation.ts';
import type { DescribedOperation } from '../facades/parameter-table.ts';
import { readAll } from '../facades/parameters.ts';
import { JSON_OR_FORM, shown } from '../facades/reference.ts';
import { chargeFor, inOrder, translateAll } from '../facades/texts.ts';
import { membersOf } from './deepl-request.ts';
import { NOT_FOUND } from './glossary-model.ts';
import { mergedGlossary } from './glossary-store.ts';
import { restoredMarkup, measureMarkup } from './markup.ts';
import { NOTHING_READ, optionsOf, TOO_MANY_TEXTS, TRANSLATE_PARAMETERS } from './translate-parameters.ts';
import type { ReadOptions } from './translate-parameters.ts';

const ANSWER = shown(
  'All texts are translated, and charged.',
  {
    translations: 'One per text, in the order of the texts.',
    detected_source_language: '`UND` if it is unknown.',
    text: 'The translation.',
    billed_characters: 'With `show_billed_characters`.',
    model_type_used: 'With `model_type`.',
  },
  { translations: [{ detected_source_language: 'EN', text: 'Hallo' }] },
  {
    more: {
      summary: 'With what was charged, and the model',
      value: {
        translations: [{ detected_source_language: 'EN', text: 'Hallo', billed_characters: 5, model_type_used: 'quality_optimized' }],
      },
    },
  },
);

/** For the manual's table of parameters. */
export const DEEPL_OPERATION: DescribedOperation = {
  api: 'DeepL /v2/translate',
  parameters: TRANSLATE_PARAMETERS,
  others: 'without effect',
};

/** Clients expect a language for every text: this is ISO 639's code for an undetermined one. */
const UNDETERMINED = 'UND';

/** As long as the most impatient client waits: one good attempt rather than two short ones. */
export const ATTEMPT_MS = 4500;

interface TranslateSettings {
  readonly attemptMs: number | undefined;
  readonly passesStyle: boolean;
  readonly isMarkupFree: boolean;
}

interface TranslateOrder extends ReadOptions {
  /** What is charged for each text, empty ones included; `undefined` if all of it is. */
  charged: readonly number[] | undefined;
}

export function translate(api: FacadeApi, host: PluginHost, { attemptMs, passesStyle, isMarkupFree }: TranslateSettings): ApiPart {
  const part = operation<Members, TranslateOrder>(api, host, {
    name: 'translation',
    tag: 'Translation',
    scope: 'translate:text',
    at: 'POST /v2/translate',
    summary: 'Translate texts',
    description: 'Translates up to 50 texts, all or none of them.',
    parameters: TRANSLATE_PARAMETERS,
    body: { description: 'As a form or as JSON.', example: { text: ['Hello'], target_lang: 'DE' }, contentTypes: JSON_OR_FORM },
    answer: ANSWER,
    problems: [...TRANSLATION_PROBLEMS, 'glossary_not_found'],
    read: (x, services) => membersOf(x, services, (_, member) => (member === 'text' ? TOO_MANY_TEXTS : undefined)),
    nothing: { ...NOTHING_READ, charged: undefined },
    judge: (order, members, offer) =>
      readAll(TRANSLATE_PARAMETERS, members, order, { ...offer, passesStyle }) ?? judgeMarkup(order, isMarkupFree),
    charge: chargeOf,
    isLengthFirst: true,
    async run(order, x, services) {
      const found = await translated(x, services, order, attemptMs ?? ATTEMPT_MS);
      if (found.kind === 'translated') return answer({ translations: answersOf(order, found.translations) });
      // It was deleted after the admission had found it.
      return found === NO_SUCH_GLOSSARY ? NOT_FOUND : found;
    },
  });
  const steps: ApiPart['steps'] = (services) => {
    if (attemptMs !== undefined && attemptMs < services.engineTimeoutMs) {
      host.warn('attempt_timeout_ms is less than engine.timeout_ms: translations that take longer fail for this API alone', {
        attempt_timeout_ms: attemptMs,
        engine_timeout_ms: services.engineTimeoutMs,
      });
    }
    return part.steps(services);
  };
  return { ...part, steps };
}

/** Where only text outside of markup is charged, or XML has to be well-formed. */
function judgeMarkup(order: TranslateOrder, isFree: boolean): Refusal | undefined {
  const { format, version, texts } = order;
  const isStrict = version === 'v2' && format === 'xml';
  if (format === 'text' || (!isFree && !isStrict)) return undefined;
  const measured = texts.entries.map((entry) => measureMarkup(entry, format));
  const malformed = isStrict ? measured.indexOf(undefined) : -1;
  if (malformed !== -1) {
    const detail = `Tag handling parsing failed, please check input: text[${malformed}] is not well-formed XML, which tag_handling_version v2 requires.`;
    return refuse('validation_error', detail);
  }
  if (isFree) order.charged = measured.map((one, i) => one ?? countCharacters(texts.entries[i]!));
  return undefined;
}

function chargeOf({ texts: { characters }, charged, glossaryIds, sourceLang, targetLang }: TranslateOrder): Charge {
  const [glossaryId] = glossaryIds;
  // Glossaries always need a source language. Here their languages are compared without regions.
  const glossary = glossaryId === undefined ? undefined : { glossaryId, sourceLang: sourceLang!, targetLang, byBase: true };
  return { ...chargeFor(characters, glossary), missingGlossary: NOT_FOUND, charged: charged?.reduce((sum, one) => sum + one, 0) };
}

async function translated(x: Exchange, services: GatewayServices, read: TranslateOrder, attemptMs: number): Promise<Translated | Refusal> {
  const { texts, glossaryIds, charged } = read;
  const { entries, text } = texts;
  const options = optionsOf(read);
  const order = { text, options, attemptMs, charged: charged?.filter((_one, i) => entries[i] !== '') };
  // The admission only looks for the glossary of texts that are charged.
  if (glossaryIds.length === 0 || (glossaryIds.length === 1 && text.length > 0)) {
    return translateAll(services, x, { ...order, glossaryId: glossaryIds[0] });
  }
  const glossary = await mergedGlossary(x, services, glossaryIds, options);
  if ('problem' in glossary) return glossary;
  return translateAll(services, x, { ...order, options: { ...options, glossary }, glossaryId: undefined });
}

function answersOf({ texts, sourceLang, showsBilled, modelType, charged }: TranslateOrder, translations: readonly Translation[]) {
  return inOrder(texts.entries, translations, (one, entry, index) => {
    const billed = charged?.[index];
    const hasFreeMarkup = billed !== undefined && billed < countCharacters(entry);
    return {
      detected_source_language: one?.detectedSourceLanguage ?? sourceLang ?? UNDETERMINED,
      // Markup that is not charged is as it was sent.
      text: one === undefined ? '' : hasFreeMarkup ? restoredMarkup(entry, one.text) : one.text,
      billed_characters: showsBilled === true ? (one?.isSpared === true ? 0 : (billed ?? countCharacters(entry))) : undefined,
      model_type_used: modelType,
    };
  });
}
