// Parses the parameters of POST /translate: Azure's names and error numbers, our rules and limits.
import { refusedCharge, refuse, targetsOffered } from 'lingate';
import type { Charge, Languages, Refusal, TextFormat } from 'lingate';
import type { CanFor } from '../facades/api.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import type { Judged } from '../facades/members.ts';
import { sourceCode, targetCode, theirCode } from './azure-languages.ts';
import type { Target } from './azure-languages.ts';
import { judgeVersion, oneOf, queryOf, single, wrong } from './azure-request.ts';
import type { Query } from './azure-request.ts';
import type { Texts } from '../facades/texts.ts';

/** Each is a separate call to the engine. */
const TARGETS_MAX = 50;

/** A parsed request. Codes are canonical; characters count once for each target. */
export interface AzureOrder extends Texts {
  readonly sourceLang: string | undefined;
  readonly targets: readonly Target[];
  readonly format: TextFormat;
}

export interface AzureRules {
  readonly languages: Languages;
  readonly variants: DefaultVariants;
  readonly canFor: CanFor;
}

/** What does not depend on what is offered. */
export interface ReadTranslation {
  readonly query: Query;
  readonly texts: Texts;
}

/** Checks the version first, then the texts. */
export function readTranslation(queryText: string, readTexts: () => Judged<Texts>): Judged<ReadTranslation> {
  const query = queryOf(queryText);
  const version = judgeVersion(query);
  if ('problem' in version) return version;
  const texts = readTexts();
  return 'problem' in texts ? texts : { sound: { query, texts: texts.sound } };
}

/** Checks the rest, after the texts like `/v1`. */
export function judgeTranslation({ query, texts }: ReadTranslation, rules: AzureRules): Judged<AzureOrder> | Charge {
  const characters = texts.characters * Math.max(1, targetsIn(query).length);
  const rest = judgeRest(query, rules);
  return 'problem' in rest ? refusedCharge(rest, characters) : { sound: { ...texts, ...rest.sound, characters } };
}

function judgeRest(query: Query, { languages, variants, canFor }: AzureRules): Judged<Omit<AzureOrder, keyof Texts>> {
  const targets = targetsOf(query, languages, variants);
  if ('problem' in targets) return targets;
  const sourceLang = sourceOf(query, languages);
  if ('problem' in sourceLang) return sourceLang;
  const missing = targets.sound.find(({ targetLang }) => !languages.offers(sourceLang.sound, targetLang));
  if (missing !== undefined) return notOffered(sourceLang.sound, missing, languages);
  const format = formatOf(query, () =>
    targets.sound.every(({ targetLang }) => canFor(sourceLang.sound, targetLang).formats.includes('html')),
  );
  if ('problem' in format) return format;
  return faultOfOptions(query, languages) ?? { sound: { sourceLang: sourceLang.sound, targets: targets.sound, format: format.sound } };
}

/** The codes of the targets: the parameter may be repeated, and each may hold several, separated by commas. */
function targetsIn(query: Query): readonly string[] {
  return (query.get('to') ?? []).flatMap((value) => value.split(',', TARGETS_MAX + 1));
}

function targetsOf(query: Query, languages: Languages, variants: DefaultVariants): Judged<readonly Target[]> {
  const given = targetsIn(query);
  const no = (message: string): Refusal => refuse('invalid_target_lang', message);
  if (given.length === 0) return no('to: is missing; it is the target language, for example to=de.');
  if (given.length > TARGETS_MAX) return no(`to: may name at most ${TARGETS_MAX} languages.`);
  const targets: Target[] = [];
  for (const [index, value] of given.entries()) {
    const target = targetCode(value, languages, variants);
    const which = given.length === 1 ? 'to' : `to[${index}]`;
    if (target === undefined) return no(`${which}: must be a code of a target language that GET /languages lists.`);
    targets.push(target);
  }
  return { sound: targets };
}

function sourceOf(query: Query, languages: Languages): Judged<string | undefined> {
  const from = query.get('from') ?? [];
  if (from.length > 1) return refuse('invalid_source_lang', 'from: may be given once.');
  const [code = ''] = from;
  if (code === '' || code.toLowerCase() === 'auto') return { sound: undefined };
  const sound = sourceCode(code, languages);
  return sound === undefined
    ? refuse('invalid_source_lang', 'from: must be a code of a source language that GET /languages lists, or be left out.')
    : { sound };
}

function notOffered(sourceLang: string | undefined, { to }: Target, languages: Languages): Refusal {
  const from = sourceLang === undefined ? '' : ` for texts in ${theirCode(sourceLang)}`;
  return wrong(400_023, `to: ${to} is not offered${from}; ${targetsOffered(sourceLang, languages, theirCode)}.`);
}

function formatOf(query: Query, isHtmlSupported: () => boolean): Judged<TextFormat> {
  const type = oneOf(query, 'textType', ['plain', 'html'], 400_071);
  if ('problem' in type) return type;
  if (type.sound !== 'html') return { sound: 'text' };
  return isHtmlSupported()
    ? { sound: 'html' }
    : wrong(400_071, 'textType: the engine of this service does not support html; leave it out.');
}

interface CheckedOption {
  readonly name: string;
  /** Azure's code for a wrong value. */
  readonly number?: number;
  /** The values that there are, in any case. */
  readonly words?: readonly string[];
  /** Values that this service does not support, and why. */
  readonly refuses?: (value: string, languages: Languages) => boolean;
  readonly because?: string;
}

const FLAG = ['true', 'false'];
const isOn = (value: string): boolean => value === 'true';
const NO_EXTRAS = 'is not supported by this service; leave it out, or send false.';
const NO_SCRIPTS = { number: 400_080, refuses: () => true, because: 'this service does not transliterate; leave it out.' };

/** Options that are checked without effect, or that would add to the answer or change it. */
const OPTIONS: readonly CheckedOption[] = [
  {
    name: 'category',
    number: 400_002,
    refuses: (value) => value.toLowerCase() !== 'general',
    because: 'this service has no custom systems; leave it out, or send general.',
  },
  {
    name: 'suggestedFrom',
    number: 400_003,
    refuses: (value, languages) => sourceCode(value, languages) === undefined,
    because: 'must be a code of a source language that GET /languages lists.',
  },
  {
    name: 'profanityAction',
    words: ['NoAction', 'Marked', 'Deleted'],
    refuses: (value) => value !== 'NoAction',
    because: 'this service does not mark or delete anything; leave it out, or send NoAction.',
  },
  { name: 'profanityMarker', words: ['Asterisk', 'Tag'] },
  { name: 'allowFallback', words: FLAG },
  { name: 'includeAlignment', words: FLAG, refuses: isOn, because: NO_EXTRAS },
  { name: 'includeSentenceLength', words: FLAG, refuses: isOn, because: NO_EXTRAS },
  { name: 'fromScript', ...NO_SCRIPTS },
  { name: 'toScript', ...NO_SCRIPTS },
];

function faultOfOptions(query: Query, languages: Languages): Refusal | undefined {
  for (const { name, number, words, refuses, because } of OPTIONS) {
    const value = words === undefined ? single(query, name, number) : oneOf(query, name, words, number);
    if ('problem' in value) return value;
    if (value.sound !== undefined && refuses?.(value.sound, languages) === true) return wrong(number ?? 400_000, `${name}: ${because}`);
  }
  return undefined;
}
