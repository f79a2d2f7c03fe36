// Version 3.0 of Azure's /translate: options in the query, a list of texts in the body, all of them into the same languages.
import { NOTHING_CHOSEN } from 'lingate';
import type { Refusal, TextFormat } from 'lingate';
import Type from 'typebox';
import type { CallerOffer } from '../facades/api.ts';
import type { Judged } from '../facades/members.ts';
import { objectSchema, readAll } from '../facades/parameters.ts';
import type { Described, ParameterEntry } from '../facades/parameters.ts';
import { arrayOf, string } from '../facades/reference.ts';
import { judgeTexts, PIECE_TEXTS } from '../facades/texts.ts';
import type { Texts } from '../facades/texts.ts';
import {
  formatFault,
  pairFault,
  readFormat,
  readSource,
  readTarget,
  refused,
  sourceCode,
  TARGETS_MAX,
  unused,
  wrongTarget,
} from './azure-options.ts';
import type { Target } from './azure-options.ts';
import { isObject, TOO_MANY_TEXTS, valuesOf, wrong } from './azure-request.ts';
import type { Query } from './azure-request.ts';
import { Detected, SCORE } from './azure-version.ts';
import type { AzureTarget, AzureVersion, ReadJson, ReadTranslation } from './azure-version.ts';

/** The same for all texts. */
interface SharedOptions {
  readonly sourceLang: string | undefined;
  readonly targets: readonly Target[];
  readonly format: TextFormat;
}
const NOTHING_READ: SharedOptions = { sourceLang: undefined, targets: [], format: 'text' };

const EXTRAS = 'does not add it to its answers';
const SCRIPTS = 'does not transliterate';

/** In the order in which they are checked. */
const OPTIONS: readonly ParameterEntry<SharedOptions, CallerOffer>[] = [
  {
    name: 'to',
    does: 'served',
    means: 'targets',
    about:
      'The code of a target language; up to 50 times, or separated by commas. `en` and `pt` mean the variant that the operator has chosen.',
    schema: Type.Array(Type.String(), { minItems: 1, maxItems: TARGETS_MAX }),
    example: ['de'],
    missing: () => wrongTarget('to: is missing; it is the target language, for example to=de.'),
    read: targetsOf,
  },
  {
    name: 'from',
    does: 'served',
    means: 'sourceLang',
    about: 'The code of the source language. Without it, or with `auto`, the engine detects it.',
    example: 'en',
    read: (value, named, _order, { languages }) => readSource(value, named, languages),
  },
  { check: ({ sourceLang, targets }, { languages }) => firstOf(targets, (target) => pairFault('to', sourceLang, target, languages)) },
  {
    name: 'textType',
    does: 'served',
    means: 'format',
    about: '`plain` (the default), or `html` if the engine supports it.',
    example: 'plain',
    read: readFormat,
  },
  {
    check: ({ sourceLang, targets, format }, offer) =>
      firstOf(targets, ({ targetLang }) => formatFault('textType', format, sourceLang, targetLang, offer)),
  },
  refused('category', 'general', 'has no custom systems', 400_002),
  {
    name: 'suggestedFrom',
    does: 'nothing',
    about: 'A source code.',
    example: 'en',
    faultOf: (value, named, { languages }) =>
      typeof value === 'string' && sourceCode(value, languages) !== undefined
        ? undefined
        : wrong(400_003, `${named}: must be a code of a source language that GET /languages lists.`),
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
const TEXT: Described = [
  {
    name: 'Text',
    does: 'served',
    about: 'The text; an empty one stays empty. `text` is accepted too.',
    missing: () => EMPTY,
  },
];
export const TextsBody = Type.Array(objectSchema(TEXT), { minItems: 1, maxItems: PIECE_TEXTS, description: 'The texts.' });

const Translated = Type.Object({
  detectedLanguage: Type.Optional(Detected),
  translations: arrayOf(
    Type.Object({ text: string('The translation.'), to: string('The code as in `to`.') }),
    'One for each `to`, in order.',
  ),
});

export const AZURE_3_0: AzureVersion = {
  version: '3.0',
  codeOf: (number) => number,
  translate: {
    query: OPTIONS,
    body: [{ name: '[]', does: 'served', about: 'The texts.', fields: TEXT, entriesMax: PIECE_TEXTS }],
    bodySchema: TextsBody,
    bodyExample: [{ Text: 'Hello' }],
    answerSchema: Type.Array(Translated),
    answerExample: [{ translations: [{ text: 'Hallo', to: 'de' }] }],
    read: readTranslation,
    answer: (texts) =>
      texts.map(({ detected, translations }) => ({
        detectedLanguage: detected === undefined ? undefined : { language: detected, score: SCORE },
        translations: translations.map(({ text, to }) => ({ text, to })),
      })),
  },
  scopes: ['translation', 'transliteration', 'dictionary'],
  models: undefined,
};

function readTranslation(query: Query, readJson: ReadJson): Judged<ReadTranslation> {
  const texts = textsIn(readJson(undefined));
  if ('problem' in texts) return texts;
  const { entries, characters } = texts.valid;
  return {
    valid: {
      characters: characters * Math.max(1, targetsIn(valuesOf(query).get('to')).length),
      judge(rules) {
        const order: SharedOptions = { ...NOTHING_READ };
        const refusal = readAll(OPTIONS, valuesOf(query), order, rules);
        if (refusal !== undefined) return refusal;
        const { targets, sourceLang, format } = order;
        const into = targets.map(({ to, targetLang }): AzureTarget => ({
          to,
          options: { ...NOTHING_CHOSEN, sourceLang, targetLang, format },
        }));
        return { valid: entries.map((text) => ({ text, into })) };
      },
    },
  };
}

const NOT_A_LIST = wrong(400_000, 'The body must be a list of objects with a member Text: [{"Text": "…"}].');
const EMPTY = wrong(400_005, 'The body has no text: it must be like [{"Text": "…"}].');

/** The texts of a parsed body; also for /detect. */
export function textsIn(body: Judged<unknown>): Judged<Texts> {
  if ('problem' in body) return body;
  const { valid: value } = body;
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

/** The codes of the targets: the parameter may be repeated, and each may hold several, separated by commas. */
function targetsIn(to: unknown): readonly string[] {
  const values = (Array.isArray(to) ? to : [to ?? []].flat()) as readonly string[];
  return values.flatMap((value) => value.split(',', TARGETS_MAX + 1));
}

function targetsOf(value: unknown, _named: string, _order: SharedOptions, offer: CallerOffer): Judged<readonly Target[]> {
  const given = targetsIn(value);
  if (given.length > TARGETS_MAX) return wrongTarget(`to: may name at most ${TARGETS_MAX} languages.`);
  const targets: Target[] = [];
  for (const [index, one] of given.entries()) {
    const target = readTarget(one, given.length === 1 ? 'to' : `to[${index}]`, offer);
    if ('problem' in target) return target;
    targets.push(target.valid);
  }
  return { valid: targets };
}

function firstOf(targets: readonly Target[], faultOf: (target: Target) => Refusal | undefined): Refusal | undefined {
  for (const target of targets) {
    const fault = faultOf(target);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
