// The parameters of POST /v2/translate besides the texts, in the order in which they are checked: that of the interface's table.
import { refuse, targetsOffered } from 'lingate';
import type { Refusal, TextFormat } from 'lingate';
import Type from 'typebox';
import { targetOf } from '../facades/default-variants.ts';
import type { Judged } from '../facades/members.ts';
import { flag, namesOf, oneOf, textOf } from './deepl-request.ts';
import { ulidOf } from './glossary-answer.ts';
import { STYLE_PARAMETERS } from './style-parameters.ts';
import { isRequired, wantsSoFar } from './translate-order.ts';
import type { ReadOptions, TranslateEntry, TranslateRules } from './translate-order.ts';

const GLOSSARIES_MAX = 5;
const FORMALITIES = ['default', 'more', 'less', 'prefer_more', 'prefer_less'];
const MODELS = ['quality_optimized', 'latency_optimized', 'prefer_quality_optimized'];
const FORMATS = ['xml', 'html'];
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

export const TRANSLATE_PARAMETERS: readonly TranslateEntry[] = [
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
      return 'problem' in judged ? judged : { valid: judged.valid?.replace('prefer_', '') };
    },
  },
  ...STYLE_PARAMETERS,
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
  if (formality === undefined || formality === 'default') return { valid: undefined };
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
  const format = (judged.valid ?? 'text') as TextFormat;
  const { formats } = canFor(order.sourceLang, order.targetLang, wantsSoFar(order));
  return formats.includes(format)
    ? { valid: format }
    : refuse('validation_error', `'${named}': the engine of this service does not support ${format}; leave it out.`);
}
