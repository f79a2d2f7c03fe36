// Version 3.0 of Azure's /translate: options in the query, texts in the body, the same languages.
import type { Refusal } from 'lingate';
import Type from 'typebox';
import type { CallerOffer } from '../facades/operation.ts';
import { isRefusal, readAll } from '../facades/parameters.ts';
import type { Judged, Described, ParameterEntry } from '../facades/parameters.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import { CODES, isObject, TOO_MANY_TEXTS, wrong } from './azure-api.ts';
import { formatFault, NO_TARGET, pairFault, readFormat, readSource, readTarget, refused, TARGETS_MAX, unused } from './azure-parameters.ts';
import { wrongTarget } from './azure-parameters.ts';
import type { AzureTarget, AzureTranslation, Target } from './azure-parameters.ts';

/** The same for all texts. */
interface SharedOptions extends Pick<AzureTarget, 'sourceLang' | 'format'> {
  readonly targets: readonly Target[];
}

const EXTRAS = 'does not add it to its answers';
const SCRIPTS = 'does not transliterate';

/** In the order in which they are checked. */
const OPTIONS: readonly ParameterEntry<SharedOptions, CallerOffer>[] = [
  {
    name: 'to',
    means: 'targets',
    about:
      'The code of a target language; up to 50 times, or separated by commas. `en` and `pt` mean the variant that the operator has chosen.',
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: TARGETS_MAX }),
    example: ['de'],
    missing: () => wrongTarget('to: is missing; it is the target language, for example to=de.'),
    read: readTargets,
  },
  {
    name: 'from',
    means: 'sourceLang',
    about: 'The code of the source language. Without it, or with `auto`, the engine detects it.',
    example: 'en',
    read: (value, named, _order, { languages }) => readSource(value, named, languages),
  },
  { check: (order, offer) => firstFault(order, (target) => pairFault('to', target, offer)) },
  {
    name: 'textType',
    means: 'format',
    about: '`plain` (the default), or `html` if the engine supports it.',
    example: 'plain',
    read: readFormat,
  },
  { check: (order, offer) => firstFault(order, (target) => formatFault(target, offer)) },
  refused('category', 'general', 'has no custom systems', 400_002),
  {
    name: 'suggestedFrom',
    does: 'nothing',
    about: 'A source code.',
    example: 'en',
    judge: (value, named, { languages }) =>
      CODES.source(value, languages) ?? wrong(400_003, `${named}: must be a code of a source language that GET /languages lists.`),
  },
  refused('profanityAction', 'NoAction', 'does not mark or delete anything'),
  unused('profanityMarker', ['Asterisk', 'Tag']),
  unused('allowFallback', ['true', 'false']),
  refused('includeAlignment', 'false', EXTRAS),
  refused('includeSentenceLength', 'false', EXTRAS),
  refused('fromScript', undefined, SCRIPTS, 400_080),
  refused('toScript', undefined, SCRIPTS, 400_080),
];

/** Also of the texts to detect. */
export const TEXTS_BODY: Described = [
  {
    name: '[]',
    about: 'The texts.',
    fields: [
      {
        name: 'Text',
        about: 'The text; an empty one stays empty. `text` is accepted too.',
        missing: () => EMPTY,
      },
    ],
    entriesMax: PIECE_TEXTS,
  },
];

export const AZURE_3_0: AzureTranslation = {
  query: OPTIONS,
  body: TEXTS_BODY,
  bodyExample: [{ Text: 'Hello' }],
  answer: (texts) =>
    texts.map(({ detected, translations }) => ({
      detectedLanguage: detected === undefined ? undefined : { language: detected, score: 1 },
      translations: translations.map(({ text, to }) => ({ text, to })),
    })),
  charactersIn(query, body) {
    const texts = textsIn(body);
    return isRefusal(texts) ? 0 : texts.characters * Math.max(1, codesIn(query.get('to')).length);
  },
  inputsIn(query, body, offer) {
    const texts = textsIn(body);
    if (isRefusal(texts)) return texts;
    const order: SharedOptions = { sourceLang: undefined, targets: [], format: 'text' };
    const refusal = readAll(OPTIONS, query, order, offer);
    return refusal ?? texts.entries.map((text) => ({ text, into: targetsOf(order) }));
  },
};

function targetsOf({ targets, sourceLang, format }: SharedOptions): readonly AzureTarget[] {
  return targets.map((target) => ({ ...NO_TARGET, target, sourceLang, format }));
}

function firstFault(order: SharedOptions, faultOf: (target: AzureTarget) => Refusal | undefined): Refusal | undefined {
  return targetsOf(order).map(faultOf).find(isRefusal);
}

const NOT_A_LIST = wrong(400_000, 'The body must be a list of objects with a member Text: [{"Text": "…"}].');
const EMPTY = wrong(400_005, 'The body has no text: it must be like [{"Text": "…"}].');

/** The texts of a parsed body; also for /detect. */
export function textsIn(value: unknown): Judged<Texts> {
  if (value === undefined) return EMPTY;
  if (!Array.isArray(value)) return NOT_A_LIST;
  if (value.length === 0) return EMPTY;
  if (value.length > PIECE_TEXTS) return TOO_MANY_TEXTS;
  const elements: readonly unknown[] = value;
  const entries = elements.map((element) => (isObject(element) ? (element['Text'] ?? element['text']) : undefined));
  return judgeTexts(entries, {
    notText: (index) =>
      isObject(elements[index])
        ? wrong(400_005, `[${index}].Text: must be a string.`)
        : wrong(400_020, `[${index}]: must be an object with a member Text.`),
    half: (index) => wrong(400_005, `[${index}].Text: has half of a surrogate pair.`),
    none: undefined,
  });
}

/** The parameter may be repeated, and each may hold several, by commas. */
function codesIn(to: unknown): readonly string[] {
  const values = [to ?? []].flat() as readonly unknown[];
  return values.flatMap((value) => String(value).split(',', TARGETS_MAX + 1));
}

function readTargets(value: unknown, _named: string, _order: SharedOptions, offer: CallerOffer): Judged<readonly Target[]> {
  const codes = codesIn(value);
  if (codes.length > TARGETS_MAX) return wrongTarget(`to: may name at most ${TARGETS_MAX} languages.`);
  const targets = codes.map((code, index) => readTarget(code, codes.length === 1 ? 'to' : `to[${index}]`, offer));
  return targets.find(isRefusal) ?? (targets as readonly Target[]);
}
