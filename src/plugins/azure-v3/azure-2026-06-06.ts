// Version 2026-06-06 of Azure's /translate: texts with languages and options of their own.
import { countCharacters } from 'lingate';
import type { Refusal } from 'lingate';
import type { CallerOffer } from '../facades/operation.ts';
import { isRefusal, readEach } from '../facades/parameters.ts';
import type { Judged, Described, ParameterEntry } from '../facades/parameters.ts';
import { PIECE_TEXTS } from '../facades/texts.ts';
import { isObject, TOO_MANY_TEXTS, wrong } from './azure-api.ts';
import { formatFault, NO_TARGET, pairFault, readFormat, readSource, readTarget, refused, TARGETS_MAX, unused } from './azure-parameters.ts';
import { wordOf, wrongTarget } from './azure-parameters.ts';
import type { AzureInput, AzureTarget, AzureTranslation } from './azure-parameters.ts';

const PAIRS_MAX = 5;

interface InputOrder extends AzureInput, Pick<AzureTarget, 'sourceLang' | 'format'> {}

const TONES: Readonly<Record<string, string | undefined>> = { formal: 'prefer_more', informal: 'prefer_less', neutral: undefined };

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.isWellFormed();
/** One of a pair must have both. */
const NO_PAIR = (named: string): Refusal =>
  wrong(400_000, `${named.slice(0, named.lastIndexOf('.'))}: must have the texts source and target.`);
const readText = (value: unknown, named: string): Judged<string> => (isText(value) ? value : NO_PAIR(named));

interface TextPair {
  readonly source: string;
  readonly target: string;
}

const PAIR: readonly ParameterEntry<TextPair, CallerOffer>[] = [
  { name: 'source', means: 'source', about: 'A text.', missing: NO_PAIR, read: readText },
  { name: 'target', means: 'target', about: 'Its translation.', missing: NO_PAIR, read: readText },
];

/** In the order in which they are checked. */
const TARGET: readonly ParameterEntry<AzureTarget, CallerOffer>[] = [
  {
    name: 'language',
    means: 'target',
    about: 'The code of the target language. `en` and `pt` mean the variant that the operator has chosen.',
    example: 'de',
    missing: (named) => wrongTarget(`${named}: is missing; it is the target language, for example de.`),
    read: (value, named, _order, offer) => readTarget(value, named, offer),
  },
  { check: (order, offer, at) => pairFault(`${at}language`, order, offer) },
  { check: formatFault },
  {
    name: 'tone',
    means: 'formality',
    about: '`formal`, `informal` or `neutral`; without effect where engine or language do not support it.',
    example: 'formal',
    read(value, named, { sourceLang, target: { targetLang } }, { languages, canFor }) {
      const tone = wordOf(value, named, Object.keys(TONES));
      if (isRefusal(tone)) return tone;
      const isSupported = languages.supportsFormality(targetLang) && canFor(sourceLang, targetLang).formality;
      return isSupported ? TONES[tone] : undefined;
    },
  },
  {
    name: 'referenceTextPairs',
    means: 'context',
    about: 'Translations to follow, for engines that take a context. Neither translated nor charged.',
    fields: PAIR,
    entriesMax: PAIRS_MAX,
    read: readPairs,
  },
  refused('deploymentName', 'general', 'has no custom systems'),
  refused('allowFallback', 'true', 'has no custom systems'),
  refused('gender', 'neutral', 'does not choose a gender'),
  refused('adaptiveDatasetId', undefined, 'has no datasets'),
  refused('script', undefined, 'does not transliterate', 400_080),
  refused('profanityAction', 'NoAction', 'does not mark or delete anything'),
  unused('profanityMarker', ['Asterisk', 'Tag']),
];

const INPUT: readonly ParameterEntry<InputOrder, CallerOffer>[] = [
  {
    name: 'text',
    means: 'text',
    mayBeEmpty: true,
    about: 'The text; an empty one stays empty.',
    example: 'Hello',
    missing: notText,
    read(value, named) {
      if (typeof value !== 'string') return notText(named);
      return value.isWellFormed() ? value : wrong(400_005, `${named}: has half of a surrogate pair.`);
    },
  },
  {
    name: 'language',
    means: 'sourceLang',
    about: 'The code of its language. Without it, or with `auto`, the engine detects it.',
    example: 'en',
    read: (value, named, _order, { languages }) => readSource(value, named, languages),
  },
  refused('script', undefined, 'does not transliterate', 400_080),
  {
    name: 'textType',
    means: 'format',
    about: '`Plain` (the default), or `Html` if the engine supports it.',
    example: 'Plain',
    read: readFormat,
  },
  {
    name: 'targets',
    means: 'into',
    about: 'The translations that are requested.',
    fields: TARGET,
    entriesMax: TARGETS_MAX,
    missing: (named) => wrongTarget(`${named}: is missing; it is a list such as [{"language": "de"}].`),
    read: readTargets,
  },
];

const BODY: Described = [{ name: 'inputs', about: 'The texts.', fields: INPUT, entriesMax: PIECE_TEXTS, missing: () => NO_INPUTS }];

export const AZURE_2026_06_06: AzureTranslation = {
  query: [],
  body: BODY,
  bodyExample: { inputs: [{ text: 'Hello', language: 'en', targets: [{ language: 'de', tone: 'formal' }] }] },
  answer: (texts) => ({
    value: texts.map(({ detected, translations }) => ({
      detectedLanguage: detected === undefined ? undefined : { language: detected, score: 1 },
      translations: translations.map(({ to, text, sourceCharacters }) => ({ language: to, text, sourceCharacters })),
    })),
  }),
  // Of one input, once for each target.
  charactersIn: (_query, body) => inputsOf(body).reduce((sum: number, input) => sum + charactersIn(input), 0),
  inputsIn(_query, body, offer) {
    const inputs = inputsOf(body);
    if (inputs.length === 0) return NO_INPUTS;
    if (inputs.length > PIECE_TEXTS) return TOO_MANY_TEXTS;
    return readEach(INPUT, inputs, { text: '', sourceLang: undefined, format: 'text', into: [] }, offer, 'inputs', notObject);
  },
};

const NO_INPUTS = wrong(400_000, 'inputs: must be a list such as [{"text": "…", "targets": [{"language": "de"}]}].');

function notText(named: string): Refusal {
  return wrong(400_005, `${named}: must be a string.`);
}

function notObject(named: string): Refusal {
  return wrong(400_020, `${named}: must be an object.`);
}

function inputsOf(body: unknown): readonly unknown[] {
  const inputs = isObject(body) ? body['inputs'] : undefined;
  return Array.isArray(inputs) ? inputs : [];
}

function charactersIn(input: unknown): number {
  if (!isObject(input) || typeof input['text'] !== 'string') return 0;
  return countCharacters(input['text']) * (Array.isArray(input['targets']) ? Math.max(1, input['targets'].length) : 1);
}

function readTargets(
  value: unknown,
  named: string,
  { sourceLang, format }: InputOrder,
  offer: CallerOffer,
): Judged<readonly AzureTarget[]> {
  if (!Array.isArray(value)) return wrongTarget(`${named}: must be a list such as [{"language": "de"}].`);
  if (value.length > TARGETS_MAX) return wrongTarget(`${named}: may have at most ${TARGETS_MAX} entries.`);
  return readEach(TARGET, value, { ...NO_TARGET, sourceLang, format }, offer, named, notObject);
}

/** A line for each pair. */
function readPairs(value: unknown, named: string, _order: AzureTarget, offer: CallerOffer): Judged<string> {
  if (!Array.isArray(value)) return wrong(400_000, `${named}: must be a list of objects with source and target.`);
  if (value.length > PAIRS_MAX) return wrong(400_000, `${named}: may have at most ${PAIRS_MAX} entries.`);
  const pairs = readEach(PAIR, value, { source: '', target: '' }, offer, named, (at) => NO_PAIR(`${at}.`));
  return isRefusal(pairs) ? pairs : pairs.map(({ source, target }) => `${source} = ${target}`).join('\n');
}
