// Parses the parameters of POST /v2/translate: DeepL's names, our rules and limits.
import { NOTHING_CHOSEN, refuse, refusedCharge, targetsOffered } from 'lingate';
import type { Charge, Languages, ListLimit, TextFormat, TranslationOptions, Want } from 'lingate';
import type { CanFor } from '../facades/api.ts';
import { targetOf } from '../facades/default-variants.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { chosen } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { flag, namesOf, oneOf, textOf } from './deepl-request.ts';
import { ulidOf } from './glossary-answer.ts';

export const TEXTS_LIMIT: ListLimit = {
  name: 'text',
  entriesMax: PIECE_TEXTS,
  refusal: refuse('too_many_texts', `'text' may have at most ${PIECE_TEXTS} entries.`, { max_texts: PIECE_TEXTS }),
};
const GLOSSARIES_MAX = 5;
const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'];
const MODELS = ['quality_optimized', 'latency_optimized', 'prefer_quality_optimized'];
/** What DeepL stores for its customers and we do not: without it, the translation would not be the requested one. */
const NOT_KEPT = ['style_id', 'translation_memory_id', 'translation_memory_threshold', 'custom_instructions'] as const;
/** Values of `split_sentences`: checked to find mistakes, but without effect. */
const SPLITTINGS = ['0', '1', 'nonewlines'];

/** A parsed request. Codes are canonical. */
export interface TranslateOrder extends Texts {
  /** Without the glossaries; the admission looks for the first of them. */
  readonly options: TranslationOptions;
  readonly glossaryIds: readonly string[];
  readonly showsBilled: boolean;
  /** The model named in the answer, if the caller asks for one. */
  readonly modelType: string | undefined;
}

interface TranslateRules {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
  readonly canFor: CanFor;
}

/** In the order of the interface's parameter table, like `/v1`. */
export function judgeTranslation(members: Members, rules: TranslateRules): Judged<TranslateOrder> | Charge {
  const texts = textsOf(members.get('text'));
  if ('problem' in texts) return texts;
  const rest = judgeRest(members, rules);
  return 'problem' in rest ? refusedCharge(rest, texts.sound.characters) : { sound: { ...texts.sound, ...rest.sound } };
}

function judgeRest(members: Members, rules: TranslateRules): Judged<Omit<TranslateOrder, keyof Texts>> {
  const { languages, variants, canFor } = rules;
  const targetLang = targetOf(members.get('target_lang'), languages, variants);
  if (targetLang === undefined) return refuse('invalid_target_lang', "Value for 'target_lang' not supported.");
  const source = chosen(members, 'source_lang');
  const sourceLang = languages.source(source);
  if (sourceLang === undefined && source !== undefined) return refuse('invalid_source_lang', "Value for 'source_lang' not supported.");
  if (!languages.offers(sourceLang, targetLang)) {
    const from = sourceLang === undefined ? '' : ` for texts in ${sourceLang}`;
    return refuse('validation_error', `Value for 'target_lang' not supported${from}; ${targetsOffered(sourceLang, languages)}.`);
  }
  const isFormal = languages.supportsFormality(targetLang) && canFor(sourceLang, targetLang).formality;
  const formality = formalityOf(members, isFormal);
  if ('problem' in formality) return formality;
  const context = textOf(members, 'context');
  if ('problem' in context) return context;
  let wants = isRequired(formality.sound) ? FORMALITY : NO_WANTS;
  const glossaryIds = glossaryIdsOf(members, sourceLang, canFor(sourceLang, targetLang, wants).glossaries);
  if ('problem' in glossaryIds) return glossaryIds;
  if (glossaryIds.sound.length > 0) wants = [...wants, 'glossary'];
  const format = formatOf(members, canFor(sourceLang, targetLang, wants).formats);
  if ('problem' in format) return format;
  const answer = answerOf(members);
  if ('problem' in answer) return answer;
  const notKept = NOT_KEPT.find((name) => isGiven(members, name));
  if (notKept !== undefined) return refuse('validation_error', `'${notKept}' is not supported by this service; leave it out.`);
  const options = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality: formality.sound, context: context.sound, ...format.sound };
  return { sound: { options, glossaryIds: glossaryIds.sound, ...answer.sound } };
}

const FAULTS = {
  notText: (index: number) => refuse('validation_error', `Invalid request: text[${index}] is not a string.`),
  half: (index: number) => refuse('validation_error', `Invalid request: text[${index}] has half of a surrogate pair.`),
  none: undefined,
};

function textsOf(value: unknown): Judged<Texts> {
  const entries = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(entries) || entries.length === 0) {
    return refuse('validation_error', "Invalid request: Expected 'text' parameter to be an array of strings");
  }
  return entries.length > PIECE_TEXTS ? TEXTS_LIMIT.refusal : judgeTexts(entries, FAULTS);
}

/** An empty list counts as none. */
function isGiven(members: Members, name: string): boolean {
  const value = chosen(members, name);
  return value !== undefined && !(Array.isArray(value) && value.every((one) => one === ''));
}

function formalityOf(members: Members, isSupported: boolean): Judged<string | undefined> {
  const judged = oneOf(members, 'formality', FORMALITIES);
  if ('problem' in judged) return judged;
  const formality = judged.sound;
  if (formality === undefined || formality === 'default') return { sound: undefined };
  if (isSupported) return { sound: formality };
  if (!isRequired(formality)) return { sound: undefined };
  return refuse('validation_error', `Target language: 'formality' is not supported for given 'target_lang'; use prefer_${formality}.`);
}

const NO_WANTS: readonly Want[] = [];
const FORMALITY: readonly Want[] = ['formality'];

/** The other forms express a preference. */
function isRequired(formality: string | undefined): boolean {
  return formality === 'more' || formality === 'less';
}

/** One from `glossary_id`, or several from `glossary_ids`; as ULIDs. */
function glossaryIdsOf(members: Members, sourceLang: string | undefined, isSupported: boolean): Judged<readonly string[]> {
  const one = textOf(members, 'glossary_id');
  if ('problem' in one) return one;
  const several = namesOf(members, 'glossary_ids');
  if ('problem' in several) return several;
  const ids = several.sound ?? (one.sound === undefined ? [] : [one.sound]);
  if (ids.length === 0) return { sound: ids };
  const name = several.sound === undefined ? 'glossary_id' : 'glossary_ids';
  if (!isSupported) return refuse('validation_error', `'${name}': the engine of this service takes no glossaries; leave it out.`);
  if (sourceLang === undefined) return refuse('validation_error', `'source_lang' is required when '${name}' is used.`);
  if (several.sound !== undefined && one.sound !== undefined) {
    return refuse('validation_error', "'glossary_id' and 'glossary_ids' cannot be used together.");
  }
  // An id that is given twice counts once: ids may be in either case.
  const different = [...new Set(ids.map((id) => id.toLowerCase()))];
  if (different.length > GLOSSARIES_MAX) return refuse('validation_error', `'glossary_ids' may have at most ${GLOSSARIES_MAX} ids.`);
  const sound = different.map(ulidOf).filter((id) => id !== undefined);
  return sound.length === different.length
    ? { sound }
    : refuse('validation_error', `Value for '${name}' not supported: ids of glossaries are UUIDs.`);
}

/** Parameters that only change the answer, and those that are only checked. */
function answerOf(members: Members): Judged<Pick<TranslateOrder, 'showsBilled' | 'modelType'>> {
  const splitting = oneOf(members, 'split_sentences', SPLITTINGS);
  if ('problem' in splitting) return splitting;
  for (const name of ['preserve_formatting', 'outline_detection']) {
    const judged = flag(members, name);
    if ('problem' in judged) return judged;
  }
  for (const name of ['splitting_tags', 'non_splitting_tags']) {
    const judged = namesOf(members, name);
    if ('problem' in judged) return judged;
  }
  const showsBilled = flag(members, 'show_billed_characters');
  if ('problem' in showsBilled) return showsBilled;
  const model = oneOf(members, 'model_type', MODELS);
  if ('problem' in model) return model;
  return { sound: { showsBilled: showsBilled.sound === true, modelType: model.sound?.replace('prefer_', '') } };
}

const FORMATS = ['xml', 'html'] as const;
const VERSIONS = ['v1', 'v2'];

function formatOf(members: Members, formats: readonly TextFormat[]): Judged<Pick<TranslationOptions, 'format' | 'ignoreTags'>> {
  const handling = oneOf(members, 'tag_handling', FORMATS);
  if ('problem' in handling) return handling;
  const version = oneOf(members, 'tag_handling_version', VERSIONS);
  if ('problem' in version) return version;
  const ignoreTags = namesOf(members, 'ignore_tags');
  if ('problem' in ignoreTags) return ignoreTags;
  const format = (handling.sound ?? 'text') as TextFormat;
  if (!formats.includes(format)) {
    return refuse('validation_error', `'tag_handling': the engine of this service does not support ${format}; leave it out.`);
  }
  if (format === 'html' && ignoreTags.sound !== undefined) {
    return refuse(
      'validation_error',
      '\'ignore_tags\' works only with tag_handling xml; with html, mark text that must not be translated with translate="no".',
    );
  }
  return { sound: { format, ignoreTags: format === 'xml' ? ignoreTags.sound : undefined } };
}
