// The parameters of POST /v2/translate, in the order in which they are checked, which is that of
// /v1, and what a request means in our terms. Those of style are passed to engines that take them.
import { NOTHING_CHOSEN, refuse, targetsOffered, wantsOf, wantsOfStyle } from 'lingate';
import type { Refusal, StyleRules, StyleWant, TextFormat, TranslationOptions, Want } from 'lingate';
import Type from 'typebox';
import { targetOf } from '../facades/codes.ts';
import type { CallerOffer } from '../facades/operation.ts';
import { isRefusal } from '../facades/parameters.ts';
import type { Judged, ParameterEntry } from '../facades/parameters.ts';
import { judgeTexts, NO_TEXTS, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { flag, namesOf, oneOf, textOf } from './deepl-request.ts';
import { ulidOf } from './glossary-model.ts';

/** What the parameters mean. Codes are canonical. */
export interface ReadOptions extends Omit<TranslationOptions, 'glossary' | 'style'>, StyleRules {
  readonly texts: Texts;
  /** ULIDs, from `glossary_id` or `glossary_ids`. */
  readonly glossaryIds: readonly string[];
  /** The version of tag handling: `v2` refuses XML that does not parse. */
  readonly version: string | undefined;
  readonly showsBilled: boolean | undefined;
  /** The model named in the answer, if the caller asks for one. */
  readonly modelType: string | undefined;
}

const { glossary: _glossary, style: _style, ...NO_OPTIONS } = NOTHING_CHOSEN;

export const NOTHING_READ: ReadOptions = {
  ...NO_OPTIONS,
  texts: NO_TEXTS,
  targetLang: '',
  glossaryIds: [],
  version: undefined,
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

const WORD_OR_SWITCH = Type.Union([Type.String(), Type.Boolean(), Type.Integer()]);
const NAMES = Type.Union([Type.String(), Type.Array(Type.String())]);

const refused = (detail: string): Refusal => refuse('validation_error', detail);

/** A switch that is checked and has no effect. */
const unusedSwitch = (name: string): TranslateEntry => ({
  name,
  does: 'nothing',
  about: '`0` or `1`; has no effect.',
  schema: WORD_OR_SWITCH,
  judge: flag,
});

/** Names of tags that are checked and have no effect. */
const unusedTags = (name: string): TranslateEntry => ({
  name,
  does: 'nothing',
  about: 'Names of tags; has no effect.',
  schema: NAMES,
  judge: namesOf,
});

const INSTRUCTIONS_MAX = 10;
const INSTRUCTION_CHARACTERS_MAX = 300;
/** Ids are UUIDs at DeepL; a server that speaks its API may have others. */
const ID_CHARACTERS_MAX = 100;
const PERCENT = /^\d{1,3}$/;

const WHERE = 'With `style_rules: pass`, for engines that take it; otherwise refused.';

/** Without what the parameter asks for, the translation would not be the requested one. */
function styled<Value>(want: StyleWant, read: (value: unknown, named: string) => Judged<Value>) {
  return (value: unknown, named: string, order: ReadOptions, { passesStyle, canFor }: TranslateRules): Judged<Value> => {
    if (!passesStyle) return refused(`'${named}' is not supported by this service; leave it out.`);
    const judged = read(value, named);
    if (isRefusal(judged) || canFor(order.sourceLang, order.targetLang, wantsSoFar(order))[want]) return judged;
    return refused(`'${named}': the engine of this service does not take it; leave it out.`);
  };
}

const engineId = styled('styles', (value, named) => textOf(value, named, ID_CHARACTERS_MAX));

export const TOO_MANY_TEXTS = refuse('too_many_texts', `'text' may have at most ${PIECE_TEXTS} entries.`, { max_texts: PIECE_TEXTS });

const NO_LIST = refused("Invalid request: Expected 'text' parameter to be an array of strings");
const NO_TARGET = refuse('invalid_target_lang', "Value for 'target_lang' not supported.");
const TEXT_FAULTS = {
  notText: (index: number) => refused(`Invalid request: text[${index}] is not a string.`),
  half: (index: number) => refused(`Invalid request: text[${index}] has half of a surrogate pair.`),
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
    means: 'texts',
    mayBeEmpty: true,
    about: 'The texts to translate. An empty text among others stays empty. In a form, repeat the field.',
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: PIECE_TEXTS }),
    missing: () => NO_LIST,
    read: textsOf,
  },
  {
    name: 'target_lang',
    means: 'targetLang',
    about: 'A target code in any case; `EN` and `PT` mean the variant that the operator has chosen.',
    missing: () => NO_TARGET,
    read: (value, _named, _order, { languages, variants }) => targetOf(value, languages, variants) ?? NO_TARGET,
  },
  {
    name: 'source_lang',
    means: 'sourceLang',
    about: 'By default the engine detects it.',
    read: (value, named, _order, { languages }) =>
      languages.source(value) ?? refuse('invalid_source_lang', `Value for '${named}' not supported.`),
  },
  { check: pairFault },
  { name: 'formality', means: 'formality', about: '`default`, `more`, `less`, `prefer_more` or `prefer_less`.', read: formalityOf },
  {
    name: 'context',
    means: 'context',
    about: 'Helps the engine; neither translated nor charged.',
    read: (value, named) => textOf(value, named),
  },
  {
    name: 'glossary_id',
    means: 'glossaryIds',
    about: 'Its languages are compared without regions. With `source_lang`.',
    read: (value, named, order, rules) => glossaryIdsOf(textOf(value, named), named, order, rules),
  },
  {
    name: 'glossary_ids',
    means: 'glossaryIds',
    about:
      'Up to five glossaries, in a list or separated by commas; the first that has a term is used. With `source_lang`, and not beside `glossary_id`.',
    schema: NAMES,
    read: (value, named, order, rules) => glossaryIdsOf(namesOf(value, named), named, order, rules),
  },
  { name: 'tag_handling', means: 'format', about: '`xml` or `html`, if the engine supports it.', read: formatOf },
  {
    name: 'tag_handling_version',
    means: 'version',
    about: '`v1` or `v2`; `v2` refuses XML that does not parse.',
    read: (value, named) => oneOf(value, named, ['v1', 'v2']),
  },
  {
    name: 'ignore_tags',
    means: 'ignoreTags',
    about: 'Elements that are not translated, separated by commas or in a list. Only with `xml`.',
    schema: NAMES,
    read: namesOf,
  },
  { check: ({ format, ignoreTags }) => (format === 'html' && ignoreTags !== undefined ? IGNORED_IN_HTML : undefined) },
  {
    name: 'split_sentences',
    does: 'nothing',
    about: '`0`, `1` or `nonewlines`; has no effect.',
    schema: WORD_OR_SWITCH,
    judge: (value, named) => oneOf(value, named, ['0', '1', 'nonewlines']),
  },
  unusedSwitch('preserve_formatting'),
  unusedSwitch('outline_detection'),
  unusedSwitch('enable_beta_languages'),
  unusedTags('splitting_tags'),
  unusedTags('non_splitting_tags'),
  {
    name: 'show_billed_characters',
    means: 'showsBilled',
    about: '`1`: the answer has the characters charged for each text.',
    schema: WORD_OR_SWITCH,
    read: flag,
  },
  {
    name: 'model_type',
    means: 'modelType',
    about: 'Comes back as `model_type_used`; the engine is the same.',
    read(value, named) {
      const model = oneOf(value, named, MODELS);
      return isRefusal(model) ? model : model.replace('prefer_', '');
    },
  },
  { name: 'style_id', means: 'styleId', about: `The id of style rules at the engine. ${WHERE}`, read: engineId },
  { name: 'translation_memory_id', means: 'memoryId', about: `The id of a translation memory at the engine. ${WHERE}`, read: engineId },
  {
    name: 'translation_memory_threshold',
    means: 'memoryThreshold',
    about: `How similar a text of the memory must be, from 0 to 100. ${WHERE}`,
    schema: Type.Integer({ minimum: 0, maximum: 100 }),
    read: styled('styles', thresholdOf),
  },
  {
    name: 'custom_instructions',
    means: 'instructions',
    about: `Up to ${INSTRUCTIONS_MAX} sentences of at most ${INSTRUCTION_CHARACTERS_MAX} characters on the wording. ${WHERE}`,
    schema: Type.Array(Type.String({ maxLength: INSTRUCTION_CHARACTERS_MAX }), { maxItems: INSTRUCTIONS_MAX }),
    read: styled('instructions', instructionsOf),
  },
];

const IGNORED_IN_HTML = refused(
  '\'ignore_tags\' works only with tag_handling xml; with html, mark text that must not be translated with translate="no".',
);

function pairFault({ sourceLang, targetLang }: ReadOptions, { languages }: TranslateRules): Refusal | undefined {
  if (languages.offers(sourceLang, targetLang)) return undefined;
  const from = sourceLang === undefined ? '' : ` for texts in ${sourceLang}`;
  return refused(`Value for 'target_lang' not supported${from}; ${targetsOffered(sourceLang, languages)}.`);
}

function formalityOf(
  value: unknown,
  named: string,
  { sourceLang, targetLang }: ReadOptions,
  { languages, canFor }: TranslateRules,
): Judged<string | undefined> {
  const formality = oneOf(value, named, FORMALITIES);
  if (isRefusal(formality)) return formality;
  if (formality === 'default') return undefined;
  if (languages.supportsFormality(targetLang) && canFor(sourceLang, targetLang).formality) return formality;
  // The `prefer_` forms require nothing.
  if (formality !== 'more' && formality !== 'less') return undefined;
  return refused(`Target language: 'formality' is not supported for given 'target_lang'; use prefer_${formality}.`);
}

/** `given` is from `glossary_id`, or several from `glossary_ids`. */
function glossaryIdsOf(
  given: Judged<string | readonly string[] | undefined>,
  named: string,
  order: ReadOptions,
  { canFor }: TranslateRules,
): Judged<readonly string[]> {
  if (isRefusal(given)) return given;
  if (given === undefined) return order.glossaryIds;
  const { sourceLang, targetLang } = order;
  if (order.glossaryIds.length > 0) return refused("'glossary_id' and 'glossary_ids' cannot be used together.");
  if (!canFor(sourceLang, targetLang, wantsSoFar(order)).glossaries) {
    return refused(`'${named}': the engine of this service takes no glossaries; leave it out.`);
  }
  if (sourceLang === undefined) return refused(`'source_lang' is required when '${named}' is used.`);
  // An id that is given twice counts once: ids may be in either case.
  const different = [...new Set([given].flat().map((id) => id.toLowerCase()))];
  if (different.length > GLOSSARIES_MAX) return refused(`'${named}' may have at most ${GLOSSARIES_MAX} ids.`);
  const ids = different.map(ulidOf).filter((id) => id !== undefined);
  return ids.length === different.length ? ids : refused(`Value for '${named}' not supported: ids of glossaries are UUIDs.`);
}

function formatOf(value: unknown, named: string, order: ReadOptions, { canFor }: TranslateRules): Judged<TextFormat> {
  const format = oneOf(value, named, ['xml', 'html']);
  if (isRefusal(format) || canFor(order.sourceLang, order.targetLang, wantsSoFar(order)).formats.includes(format)) return format;
  return refused(`'${named}': the engine of this service does not support ${format}; leave it out.`);
}

/** What the options read so far require of an engine. */
function wantsSoFar(order: ReadOptions): readonly Want[] {
  return wantsOf(optionsOf(order), order.glossaryIds.length > 0);
}

function thresholdOf(value: unknown, named: string): Judged<number> {
  const number = typeof value === 'string' && PERCENT.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 100) return number;
  return refused(`Value for '${named}' not supported: it is a whole number from 0 to 100.`);
}

/** A list, or a form's single field. Empty ones are left out. */
function instructionsOf(value: unknown, named: string): Judged<readonly string[]> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > INSTRUCTIONS_MAX) return refused(`'${named}' may have at most ${INSTRUCTIONS_MAX} entries.`);
  const fault = list.map((one, index) => textOf(one, `${named}[${index}]`, INSTRUCTION_CHARACTERS_MAX)).find(isRefusal);
  return fault ?? (list as readonly string[]).filter((one) => one !== '');
}

/** Without the glossaries; the admission looks for the first of them. */
export function optionsOf(read: ReadOptions): TranslationOptions {
  const { sourceLang, targetLang, formality, context, format, instructions, styleId, memoryId, memoryThreshold } = read;
  const style = { instructions, styleId, memoryId, memoryThreshold };
  const isStyled = wantsOfStyle(style).length > 0;
  const ignoreTags = format === 'xml' ? read.ignoreTags : undefined;
  return { ...NOTHING_CHOSEN, sourceLang, targetLang, formality, context, format, ignoreTags, style: isStyled ? style : undefined };
}
