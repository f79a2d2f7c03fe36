// Version 2026-06-06 of Azure's /translate: texts with languages and options of their own.
import { countCharacters, keyOfOptions, NOTHING_CHOSEN } from 'lingate';
import type { Refusal, TextFormat } from 'lingate';
import type { CallerOffer } from '../facades/operation.ts';
import { isRefusal, readAll } from '../facades/parameters.ts';
import type { Judged, Described, ParameterEntry } from '../facades/parameters.ts';
import { PIECE_TEXTS } from '../facades/texts.ts';
import { isObject, TOO_MANY_TEXTS, wrong } from './azure-api.ts';
import { formatFault, pairFault, readFormat, readSource, readTarget, refused, TARGETS_MAX, unused } from './azure-parameters.ts';
import { wordOf, wrongTarget } from './azure-parameters.ts';
import type { AzureInput, AzureTarget, AzureTranslation, ReadTranslation, Target } from './azure-parameters.ts';

const PAIRS_MAX = 5;

/** A target of one text. */
interface TargetOrder {
  readonly target: Target;
  readonly formality: string | undefined;
  readonly context: string | undefined;
}
interface TargetRules {
  readonly offer: CallerOffer;
  readonly sourceLang: string | undefined;
  readonly format: TextFormat;
}
const NO_TARGET_READ: TargetOrder = { target: { to: '', targetLang: '' }, formality: undefined, context: undefined };

interface InputOrder {
  readonly text: string;
  readonly sourceLang: string | undefined;
  readonly format: TextFormat;
  readonly into: readonly AzureTarget[];
}
const NO_INPUT_READ: InputOrder = { text: '', sourceLang: undefined, format: 'text', into: [] };

const TONES: Readonly<Record<string, string | undefined>> = { formal: 'prefer_more', informal: 'prefer_less', neutral: undefined };

const PAIR: Described = [
  { name: 'source', about: 'A text.' },
  { name: 'target', about: 'Its translation.' },
];

/** In the order in which they are checked. */
const TARGET: readonly ParameterEntry<TargetOrder, TargetRules>[] = [
  {
    name: 'language',
    means: 'target',
    about: 'The code of the target language. `en` and `pt` mean the variant that the operator has chosen.',
    example: 'de',
    missing: (named) => wrongTarget(`${named}: is missing; it is the target language, for example de.`),
    read: (value, named, _order, { offer }) => readTarget(value, named, offer),
  },
  { check: ({ target }, { sourceLang, offer }, at) => pairFault(`${at}language`, { sourceLang, target }, offer) },
  { check: ({ target }, { format, sourceLang, offer }) => formatFault(format, { sourceLang, target }, offer) },
  {
    name: 'tone',
    means: 'formality',
    about: '`formal`, `informal` or `neutral`; without effect where engine or language do not support it.',
    example: 'formal',
    read(value, named, { target: { targetLang } }, { offer, sourceLang }) {
      const tone = wordOf(value, named, Object.keys(TONES));
      if (isRefusal(tone)) return tone;
      const isSupported = offer.languages.supportsFormality(targetLang) && offer.canFor(sourceLang, targetLang).formality;
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
  read: (_query, body) => readTranslation(body),
};

const NO_INPUTS = wrong(400_000, 'inputs: must be a list such as [{"text": "…", "targets": [{"language": "de"}]}].');
const TOO_MANY_CALLS = wrongTarget(
  `inputs: may have at most ${TARGETS_MAX} different targets; one with other options counts as different.`,
);

function notText(named: string): Refusal {
  return wrong(400_005, `${named}: must be a string.`);
}

function readTranslation(body: unknown): Judged<ReadTranslation> {
  const inputs = isObject(body) ? body['inputs'] : undefined;
  if (!Array.isArray(inputs) || inputs.length === 0) return NO_INPUTS;
  if (inputs.length > PIECE_TEXTS) return TOO_MANY_TEXTS;
  const elements: readonly unknown[] = inputs;
  const characters = elements.reduce((sum: number, one) => sum + charactersIn(one), 0);
  return { characters, judge: (offer) => judgeInputs(elements, offer) };
}

/** Of one input, once for each target. */
function charactersIn(input: unknown): number {
  if (!isObject(input) || typeof input['text'] !== 'string') return 0;
  return countCharacters(input['text']) * (Array.isArray(input['targets']) ? Math.max(1, input['targets'].length) : 1);
}

function judgeInputs(elements: readonly unknown[], offer: CallerOffer): Judged<readonly AzureInput[]> {
  const inputs: AzureInput[] = [];
  // Equal targets of several texts are one call of the engine.
  const calls = new Map<string, AzureTarget>();
  for (const [index, element] of elements.entries()) {
    const order: InputOrder = { ...NO_INPUT_READ };
    const refusal = readObject(INPUT, element, order, offer, `inputs[${index}]`);
    if (refusal !== undefined) return refusal;
    const into = order.into.map((target, at) => {
      const key = `${at} ${target.to} ${keyOfOptions(target.options)}`;
      const known = calls.get(key) ?? target;
      calls.set(key, known);
      return known;
    });
    if (calls.size > TARGETS_MAX) return TOO_MANY_CALLS;
    inputs.push({ text: order.text, into });
  }
  return inputs;
}

function readObject<Order extends object, Rules>(
  entries: readonly ParameterEntry<Order, Rules>[],
  value: unknown,
  order: Order,
  rules: Rules,
  named: string,
): Refusal | undefined {
  if (!isObject(value) || Array.isArray(value)) return wrong(400_020, `${named}: must be an object.`);
  return readAll(entries, new Map(Object.entries(value)), order, rules, `${named}.`);
}

function readTargets(value: unknown, named: string, input: InputOrder, offer: CallerOffer): Judged<readonly AzureTarget[]> {
  if (!Array.isArray(value)) return wrongTarget(`${named}: must be a list such as [{"language": "de"}].`);
  if (value.length > TARGETS_MAX) return wrongTarget(`${named}: may have at most ${TARGETS_MAX} entries.`);
  const { sourceLang, format } = input;
  const targets: AzureTarget[] = [];
  for (const [index, element] of (value as readonly unknown[]).entries()) {
    const order: TargetOrder = { ...NO_TARGET_READ };
    const refusal = readObject(TARGET, element, order, { offer, sourceLang, format }, `${named}[${index}]`);
    if (refusal !== undefined) return refusal;
    const { target, formality, context } = order;
    targets.push({ to: target.to, options: { ...NOTHING_CHOSEN, sourceLang, targetLang: target.targetLang, format, formality, context } });
  }
  return targets;
}

/** A line for each pair. */
function readPairs(value: unknown, named: string): Judged<string | undefined> {
  if (!Array.isArray(value)) return wrong(400_000, `${named}: must be a list of objects with source and target.`);
  if (value.length > PAIRS_MAX) return wrong(400_000, `${named}: may have at most ${PAIRS_MAX} entries.`);
  const lines: string[] = [];
  for (const [index, pair] of (value as readonly unknown[]).entries()) {
    const { source, target } = isObject(pair) ? pair : {};
    if (!isText(source) || !isText(target)) return wrong(400_000, `${named}[${index}]: must have the texts source and target.`);
    lines.push(`${source} = ${target}`);
  }
  return lines.join('\n');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.isWellFormed();
}
