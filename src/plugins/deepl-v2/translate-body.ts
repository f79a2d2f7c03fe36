// Reads the body of POST /v2/translate: DeepL's names, our rules and limits.
import { NOTHING_CHOSEN, refuse, refusedCharge } from 'lingate';
import type { Charge, ListLimit, TranslationOptions } from 'lingate';
import Type from 'typebox';
import type { Judged, Members } from '../facades/members.ts';
import { readAll } from '../facades/parameters.ts';
import type { Described, ParameterDoc } from '../facades/parameters.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { styleOf, TRANSLATE_PARAMETERS } from './translate-parameters.ts';
import type { ReadOptions, TranslateRules } from './translate-parameters.ts';

export const TEXTS_LIMIT: ListLimit = {
  name: 'text',
  entriesMax: PIECE_TEXTS,
  refusal: refuse('too_many_texts', `'text' may have at most ${PIECE_TEXTS} entries.`, { max_texts: PIECE_TEXTS }),
};

const NO_TEXTS = refuse('validation_error', "Invalid request: Expected 'text' parameter to be an array of strings");

const TEXT: ParameterDoc = {
  name: 'text',
  does: 'served',
  about: 'The texts to translate. An empty text among others stays empty. In a form, repeat the field.',
  schema: Type.Array(Type.String(), { minItems: 1, maxItems: PIECE_TEXTS }),
  missing: () => NO_TEXTS,
};

/** All of them, for the API reference and the manual. */
export const BODY: Described = [TEXT, ...TRANSLATE_PARAMETERS];

/** A parsed request. Codes are canonical. */
export interface TranslateOrder extends Texts {
  /** Without the glossaries; the admission looks for the first of them. */
  readonly options: TranslationOptions;
  readonly glossaryIds: readonly string[];
  /** Whether XML that does not parse is refused. */
  readonly isStrict: boolean;
  readonly showsBilled: boolean;
  /** The model named in the answer, if the caller asks for one. */
  readonly modelType: string | undefined;
}

export const NOTHING_READ: ReadOptions = {
  targetLang: '',
  sourceLang: undefined,
  formality: undefined,
  context: undefined,
  glossaryIds: [],
  format: 'text',
  version: undefined,
  ignoreTags: undefined,
  showsBilled: undefined,
  modelType: undefined,
  instructions: undefined,
  styleId: undefined,
  memoryId: undefined,
  memoryThreshold: undefined,
};

/** The texts, then the rest in the order of the interface's parameter table, like `/v1`. */
export function judgeTranslation(members: Members, rules: TranslateRules): Judged<TranslateOrder> | Charge {
  const texts = textsOf(members.get('text'));
  if ('problem' in texts) return texts;
  const read: ReadOptions = { ...NOTHING_READ };
  const refusal = readAll(TRANSLATE_PARAMETERS, members, read, rules);
  return refusal === undefined ? { valid: orderOf(texts.valid, read) } : refusedCharge(refusal, texts.valid.characters);
}

function orderOf(texts: Texts, read: ReadOptions): TranslateOrder {
  const { sourceLang, targetLang, formality, context, format, glossaryIds, version, showsBilled, modelType } = read;
  const ignoreTags = format === 'xml' ? read.ignoreTags : undefined;
  const options = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality, context, format, ignoreTags, style: styleOf(read) };
  return { ...texts, options, glossaryIds, isStrict: version === 'v2' && format === 'xml', showsBilled: showsBilled === true, modelType };
}

const FAULTS = {
  notText: (index: number) => refuse('validation_error', `Invalid request: text[${index}] is not a string.`),
  half: (index: number) => refuse('validation_error', `Invalid request: text[${index}] has half of a surrogate pair.`),
  none: undefined,
};

function textsOf(value: unknown): Judged<Texts> {
  const entries = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(entries) || entries.length === 0) return NO_TEXTS;
  return entries.length > PIECE_TEXTS ? TEXTS_LIMIT.refusal : judgeTexts(entries, FAULTS);
}
