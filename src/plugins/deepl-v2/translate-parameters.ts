// The parameters of POST /v2/translate, in the order in which they are checked, which is that of
// /v1, and what a request means in our terms. Those of style are passed to engines that take them.
import { countCharacters, NOTHING_CHOSEN, refuse, refusedCharge, targetsOffered, wantsOfStyle } from 'lingate';
import type { Charge, Refusal, StyleRules, StyleWant, TextFormat, TranslationOptions, Want } from 'lingate';
import Type from 'typebox';
import type { CallerOffer } from '../facades/api.ts';
import { targetOf } from '../facades/default-variants.ts';
import type { Judged, Members } from '../facades/members.ts';
import { readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { judgeTexts, NO_TEXTS, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { flag, namesOf, oneOf, textOf } from './deepl-request.ts';
import { ulidOf } from './glossary-answer.ts';

/** What the parameters mean. Codes are canonical. */
export interface ReadOptions extends StyleRules {
  readonly texts: Texts;
  readonly targetLang: string;
  readonly sourceLang: string | undefined;
  readonly formality: string | undefined;
  readonly context: string | undefined;
  /** ULIDs, from `glossary_id` or `glossary_ids`. */
  readonly glossaryIds: readonly string[];
  readonly format: TextFormat;
  /** The version of tag handling: `v2` refuses XML that does not parse. */
  readonly version: string | undefined;
  readonly ignoreTags: readonly string[] | undefined;
  readonly showsBilled: boolean | undefined;
  /** The model named in the answer, if the caller asks for one. */
  readonly modelType: string | undefined;
}

export const NOTHING_READ: ReadOptions = {
  texts: NO_TEXTS,
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

export interface TranslateRules extends CallerOffer {
  /** Whether parameters of style are passed to engines that take them. */
  readonly passesStyle: boolean;
}

export type TranslateEntry = ParameterEntry<ReadOptions, TranslateRules>;

const GLOSSARIES_MAX = 5;
const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'] as const;
const MODELS = ['quality_optimized', 'latency_optimized', 'prefer_quality_optimized'];
const FORMATS = ['xml', 'html'] as const;
const VERSIONS = ['v1', 'v2'];

const WORD_OR_SWITCH = Type.Union([Type.String(), Type.Boolean(), Type.Integer()]);
const NAMES = Type.Union([Type.String(), Type.Array(Type.String())]);

/** A switch that is checked and has no effect. */
const unusedSwitch = (name: string): TranslateEntry => ({
  name,
  does: 'nothing',
  about: '`0` or `1`; has no effect.',
  schema: WORD_OR_SWITCH,
  faultOf: (value, named) => faultIn(flag(value, named)),
});

/** Names of tags that are checked and have no effect. */
const unusedTags = (name: string): TranslateEntry => ({
  name,
  does: 'nothing',
  about: 'Names of tags; has no effect.',
  schema: NAMES,
  faultOf: (value, named) => faultIn(namesOf(value, named)),
});

const faultIn = (judged: Judged<unknown>): Refusal | undefined => ('problem' in judged ? judged : undefined);

const INSTRUCTIONS_MAX = 10;
const INSTRUCTION_CHARACTERS_MAX = 300;
/** Ids are UUIDs at DeepL; a server that speaks its API may have others. */
const ID_CHARACTERS_MAX = 100;
const PERCENT = /^\d{1,3}$/;

const WHERE = 'With `style_rules: pass`, for engines that take it; otherwise refused.';

/** Without what the parameter asks for, the translation would not be the requested one. */
function styled<Value>(want: StyleWant, read: (value: unknown, named: string) => Judged<Value>) {
  return (value: unknown, named: string, order: ReadOptions, { passesStyle, canFor }: TranslateRules): Judged<Value> => {
    if (!passesStyle) return refuse('validation_error', `'${named}' is not supported by this service; leave it out.`);
    const judged = read(value, named);
    if ('problem' in judged || canFor(order.sourceLang, order.targetLang, wantsSoFar(order))[want]) return judged;
    return refuse('validation_error', `'${named}': the engine of this service does not take it; leave it out.`);
  };
}

const engineId = styled('styles', (value, named) => textOf(value, named, ID_CHARACTERS_MAX));

export const TOO_MANY_TEXTS = refuse('too_many_texts', `'text' may have at most ${PIECE_TEXTS} entries.`, { max_texts: PIECE_TEXTS });

const NO_LIST = refuse('validation_error', "Invalid request: Expected 'text' parameter to be an array of strings");
const TEXT_FAULTS = {
  notText: (index: number) => refuse('validation_error', `Invalid request: text[${index}] is not a string.`),
  half: (index: number) => refuse('validation_error', `Invalid request: text[${index}] has half of a surrogate pair.`),
  none: undefined,
};

function textsOf(value: unknown): Judged<Texts> {
  const entries = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(entries) || entries.length === 0) return NO_LIST;
  return entries.length > PIECE_TEXTS ? TOO_MANY_TEXTS : judgeTexts(entries, TEXT_FAULTS);
}

export const TRANSLATE_PARAMETERS: readonly TranslateEntry[] = [
  {
    name: 'text',
    does: 'served',
    means: 'texts',
    mayBeEmpty: true,
    about: 'The texts to translate. An empty text among others stays empty. In a form, repeat the field.',
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: PIECE_TEXTS }),
    missing: () => NO_LIST,
    read: textsOf,
  },
  {
    name: 'target_lang',
    does: 'served',
    means: 'targetLang',
    about: 'A target code in any case; `EN` and `PT` mean the variant that the operator has chosen.',
    missing: () => NO_TARGET,
    read(value, _named, _order, { languages, variants }) {
      const valid = targetOf(value, languages, variants);
      return valid === undefined ? NO_TARGET : { valid };
    },
  },
  {
    name: 'source_lang',
    does: 'served',
    means: 'sourceLang',
    about: 'By default the engine detects it.',
    read(value, named, _order, { languages }) {
      const valid = languages.source(value);
      return valid === undefined ? refuse('invalid_source_lang', `Value for '${named}' not supported.`) : { valid };
    },
  },
  { check: pairFault },
  {
    name: 'formality',
    does: 'served',
    means: 'formality',
    about: '`default`, `more`, `less`, `prefer_more` or `prefer_less`.',
    read: formalityOf,
  },
  {
    name: 'context',
    does: 'served',
    means: 'context',
    about: 'Helps the engine; neither translated nor charged.',
    read: (value, named) => textOf(value, named),
  },
  {
    name: 'glossary_id',
    does: 'served',
    means: 'glossaryIds',
    about: 'Its languages are compared without regions. With `source_lang`.',
    read: (value, named, order, rules) => glossaryIdsOf(textOf(value, named), named, order, rules),
  },
  {
    name: 'glossary_ids',
    does: 'served',
    means: 'glossaryIds',
    about:
      'Up to five glossaries, in a list or separated by commas; the first that has a term is used. With `source_lang`, and not beside `glossary_id`.',
    schema: NAMES,
    read: (value, named, order, rules) => glossaryIdsOf(namesOf(value, named), named, order, rules),
  },
  {
    name: 'tag_handling',
    does: 'served',
    means: 'format',
    about: '`xml` or `html`, if the engine supports it.',
    read: formatOf,
  },
  {
    name: 'tag_handling_version',
    does: 'served',
    means: 'version',
    about: '`v1` or `v2`; `v2` refuses XML that does not parse.',
    read: (value, named) => oneOf(value, named, VERSIONS),
  },
  {
    name: 'ignore_tags',
    does: 'served',
    means: 'ignoreTags',
    about: 'Elements that are not translated, separated by commas or in a list. Only with `xml`.',
    schema: NAMES,
    read: (value, named) => namesOf(value, named),
  },
  { check: ({ format, ignoreTags }) => (format === 'html' && ignoreTags !== undefined ? IGNORED_IN_HTML : undefined) },
  {
    name: 'split_sentences',
    does: 'nothing',
    about: '`0`, `1` or `nonewlines`; has no effect.',
    schema: WORD_OR_SWITCH,
    faultOf: (value, named) => faultIn(oneOf(value, named, ['0', '1', 'nonewlines'])),
  },
  unusedSwitch('preserve_formatting'),
  unusedSwitch('outline_detection'),
  unusedSwitch('enable_beta_languages'),
  unusedTags('splitting_tags'),
  unusedTags('non_splitting_tags'),
  {
    name: 'show_billed_characters',
    does: 'served',
    means: 'showsBilled',
    about: '`1`: the answer has the characters charged for each text.',
    schema: WORD_OR_SWITCH,
    read: (value, named) => flag(value, named),
  },
  {
    name: 'model_type',
    does: 'served',
    means: 'modelType',
    about: 'Comes back as `model_type_used`; the engine is the same.',
    read(value, named) {
      const judged = oneOf(value, named, MODELS);
      return 'problem' in judged ? judged : { valid: judged.valid.replace('prefer_', '') };
    },
  },
  { name: 'style_id', does: 'served', means: 'styleId', about: `The id of style rules at the engine. ${WHERE}`, read: engineId },
  {
    name: 'translation_memory_id',
    does: 'served',
    means: 'memoryId',
    about: `The id of a translation memory at the engine. ${WHERE}`,
    read: engineId,
  },
  {
    name: 'translation_memory_threshold',
    does: 'served',
    means: 'memoryThreshold',
    about: `How similar a text of the memory must be, from 0 to 100. ${WHERE}`,
    schema: Type.Integer({ minimum: 0, maximum: 100 }),
    read: styled('styles', thresholdOf),
  },
  {
    name: 'custom_instructions',
    does: 'served',
    means: 'instructions',
    about: `Up to ${INSTRUCTIONS_MAX} sentences of at most ${INSTRUCTION_CHARACTERS_MAX} characters on the wording. ${WHERE}`,
    schema: Type.Array(Type.String({ maxLength: INSTRUCTION_CHARACTERS_MAX }), { maxItems: INSTRUCTIONS_MAX }),
    read: styled('instructions', instructionsOf),
  },
];

const NO_TARGET = refuse('invalid_target_lang', "Value for 'target_lang' not supported.");
const IGNORED_IN_HTML = refuse(
  'validation_error',
  '\'ignore_tags\' works only with tag_handling xml; with html, mark text that must not be translated with translate="no".',
);

function pairFault({ sourceLang, targetLang }: ReadOptions, { languages }: TranslateRules): Refusal | undefined {
  if (languages.offers(sourceLang, targetLang)) return undefined;
  const from = sourceLang === undefined ? '' : ` for texts in ${sourceLang}`;
  return refuse('validation_error', `Value for 'target_lang' not supported${from}; ${targetsOffered(sourceLang, languages)}.`);
}

function formalityOf(
  value: unknown,
  named: string,
  { sourceLang, targetLang }: ReadOptions,
  { languages, canFor }: TranslateRules,
): Judged<string | undefined> {
  const judged = oneOf(value, named, FORMALITIES);
  if ('problem' in judged) return judged;
  const formality = judged.valid;
  if (formality === 'default') return { valid: undefined };
  if (languages.supportsFormality(targetLang) && canFor(sourceLang, targetLang).formality) return { valid: formality };
  if (!isRequired(formality)) return { valid: undefined };
  return refuse('validation_error', `Target language: 'formality' is not supported for given 'target_lang'; use prefer_${formality}.`);
}

/** `given` is from `glossary_id`, or several from `glossary_ids`. */
function glossaryIdsOf(
  given: Judged<string | readonly string[] | undefined>,
  named: string,
  order: ReadOptions,
  { canFor }: TranslateRules,
): Judged<readonly string[]> {
  if ('problem' in given) return given;
  const ids = typeof given.valid === 'string' ? [given.valid] : (given.valid ?? []);
  if (ids.length === 0) return { valid: order.glossaryIds };
  const { sourceLang, targetLang } = order;
  if (order.glossaryIds.length > 0) return refuse('validation_error', "'glossary_id' and 'glossary_ids' cannot be used together.");
  if (!canFor(sourceLang, targetLang, wantsSoFar(order)).glossaries) {
    return refuse('validation_error', `'${named}': the engine of this service takes no glossaries; leave it out.`);
  }
  if (sourceLang === undefined) return refuse('validation_error', `'source_lang' is required when '${named}' is used.`);
  // An id that is given twice counts once: ids may be in either case.
  const different = [...new Set(ids.map((id) => id.toLowerCase()))];
  if (different.length > GLOSSARIES_MAX) return refuse('validation_error', `'${named}' may have at most ${GLOSSARIES_MAX} ids.`);
  const valid = different.map(ulidOf).filter((id) => id !== undefined);
  return valid.length === different.length
    ? { valid }
    : refuse('validation_error', `Value for '${named}' not supported: ids of glossaries are UUIDs.`);
}

function formatOf(value: unknown, named: string, order: ReadOptions, { canFor }: TranslateRules): Judged<TextFormat> {
  const judged = oneOf(value, named, FORMATS);
  if ('problem' in judged) return judged;
  const format = judged.valid;
  const { formats } = canFor(order.sourceLang, order.targetLang, wantsSoFar(order));
  return formats.includes(format)
    ? { valid: format }
    : refuse('validation_error', `'${named}': the engine of this service does not support ${format}; leave it out.`);
}

/** The other forms express a preference. */
function isRequired(formality: string | undefined): boolean {
  return formality === 'more' || formality === 'less';
}

/** What the options read so far require of an engine. */
function wantsSoFar(order: ReadOptions): readonly Want[] {
  const { formality, glossaryIds, format } = order;
  const wants: Want[] = [...wantsOfStyle(order)];
  if (isRequired(formality)) wants.push('formality');
  if (glossaryIds.length > 0) wants.push('glossary');
  if (format !== 'text') wants.push(format);
  return wants;
}

function styleOf({ instructions, styleId, memoryId, memoryThreshold }: StyleRules): StyleRules | undefined {
  const style: StyleRules = { instructions, styleId, memoryId, memoryThreshold };
  return wantsOfStyle(style).length === 0 ? undefined : style;
}

function thresholdOf(value: unknown, named: string): Judged<number> {
  const valid = typeof value === 'string' && PERCENT.test(value) ? Number(value) : value;
  if (typeof valid === 'number' && Number.isInteger(valid) && valid >= 0 && valid <= 100) return { valid };
  return refuse('validation_error', `Value for '${named}' not supported: it is a whole number from 0 to 100.`);
}

/** A list, or a form's single field. Empty ones are left out. */
function instructionsOf(value: unknown, named: string): Judged<readonly string[]> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > INSTRUCTIONS_MAX) return refuse('validation_error', `'${named}' may have at most ${INSTRUCTIONS_MAX} entries.`);
  for (const [index, one] of list.entries()) {
    if (typeof one !== 'string' || !one.isWellFormed()) {
      return refuse('validation_error', `'${named}[${index}]' must be a string of well-formed Unicode.`);
    }
    if (one.length > INSTRUCTION_CHARACTERS_MAX && countCharacters(one) > INSTRUCTION_CHARACTERS_MAX) {
      return refuse('validation_error', `'${named}[${index}]' may be at most ${INSTRUCTION_CHARACTERS_MAX} characters long.`);
    }
  }
  return { valid: (list as readonly string[]).filter((one) => one !== '') };
}

/** A parsed request. */
export interface TranslateOrder extends ReadOptions {
  /** Without the glossaries; the admission looks for the first of them. */
  readonly options: TranslationOptions;
}

export function judgeTranslation(members: Members, rules: TranslateRules): Judged<TranslateOrder> | Charge {
  const read: ReadOptions = { ...NOTHING_READ };
  const refusal = readAll(TRANSLATE_PARAMETERS, members, read, rules);
  if (refusal !== undefined) return refusedCharge(refusal, read.texts.characters);
  const { sourceLang, targetLang, formality, context, format } = read;
  const ignoreTags = format === 'xml' ? read.ignoreTags : undefined;
  const options = { ...NOTHING_CHOSEN, sourceLang, targetLang, formality, context, format, ignoreTags, style: styleOf(read) };
  return { valid: { ...read, options } };
}
