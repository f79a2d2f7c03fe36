// What the versions' /translate share: the parameters that several of them have, with Azure's
// numbers for wrong values, and the form in which a version hands over what a request asks for.
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal, TextFormat } from 'lingate';
import type { CallerOffer } from '../facades/operation.ts';
import type { Judged, Described } from '../facades/parameters.ts';
import { CODES, wrong } from './azure-api.ts';
import type { Query } from './azure-api.ts';

/** A translation of a text that is requested. */
export interface AzureTarget {
  readonly target: Target;
  readonly sourceLang: string | undefined;
  readonly format: TextFormat;
  readonly formality: string | undefined;
  readonly context: string | undefined;
}

export const NO_TARGET: AzureTarget = {
  target: { to: '', targetLang: '' },
  sourceLang: undefined,
  format: 'text',
  formality: undefined,
  context: undefined,
};

/** A text and its translations. An empty one is answered with empty ones. */
export interface AzureInput {
  readonly text: string;
  readonly into: readonly AzureTarget[];
}

/** A text's translations, and the code of its language if the engine has detected it. */
export interface TranslatedText {
  readonly detected: string | undefined;
  readonly translations: readonly { readonly to: string; readonly text: string; readonly sourceCharacters: number }[];
}

/** A version of /translate. */
export interface AzureTranslation {
  readonly query: Described;
  readonly body: Described;
  readonly bodyExample: unknown;
  /** Its answer to these texts. */
  readonly answer: (texts: readonly TranslatedText[]) => unknown;
  /** Of every text, once for each of its targets; 0 for a body without texts. */
  readonly charactersIn: (query: Query, body: unknown) => number;
  readonly inputsIn: (query: Query, body: unknown, offer: CallerOffer) => Judged<readonly AzureInput[]>;
}

/** Each is a separate call to the engine. */
export const TARGETS_MAX = 50;

/** A parameter that is checked and has no effect. */
export function unused(name: string, words: readonly string[]) {
  const about = `${words.map((word) => `\`${word}\``).join(' or ')}.`;
  const judge = (value: unknown, named: string): unknown => wordOf(value, named, words);
  return { name, does: 'nothing', about, example: words[0]!, judge } as const;
}

/** Of which one value is accepted, or none. `because` ends a sentence about this service. */
export function refused(name: string, but: string | undefined, because: string, number = 400_000) {
  const refusal = (named: string): Refusal =>
    wrong(number, `${named}: this service ${because}; leave it out${but === undefined ? '' : `, or send ${but}`}.`);
  return {
    name,
    does: 'refused',
    about: `This service ${because}.`,
    but: but === undefined ? undefined : [but],
    example: but,
    refusal,
  } as const;
}

/** One of these words in any case; `number` is Azure's code for another value. */
export function wordOf<Word extends string>(value: unknown, named: string, words: readonly Word[], number = 400_000): Judged<Word> {
  if (Array.isArray(value)) return wrong(number, `${named}: may be given once.`);
  const lower = String(value).toLowerCase();
  return words.find((word) => word.toLowerCase() === lower) ?? wrong(number, `${named}: must be ${words.join(' or ')}.`);
}

export function wrongTarget(message: string): Refusal {
  return refuse('invalid_target_lang', message);
}

export interface Target {
  /** The code in the answer, in Azure's spelling: the requested one, or the one that it means. */
  readonly to: string;
  /** Canonical. */
  readonly targetLang: string;
}

export function readTarget(value: unknown, named: string, { languages, variants }: CallerOffer): Judged<Target> {
  const found = CODES.target(value, languages, variants);
  return found === undefined
    ? wrongTarget(`${named}: must be a code of a target language that GET /languages lists.`)
    : { to: CODES.theirs(found.name), targetLang: found.code };
}

/** The canonical source; `undefined` if it shall be detected. */
export function readSource(value: unknown, named: string, languages: Languages): Judged<string | undefined> {
  if (typeof value !== 'string') return refuse('invalid_source_lang', `${named}: must be one code.`);
  if (value.toLowerCase() === 'auto') return undefined;
  const words = `${named}: must be a code of a source language that GET /languages lists, or be left out.`;
  return CODES.source(value, languages) ?? refuse('invalid_source_lang', words);
}

export function readFormat(value: unknown, named: string): Judged<TextFormat> {
  const type = wordOf(value, named, ['plain', 'html'], 400_071);
  return type === 'plain' ? 'text' : type;
}

export function pairFault(named: string, { sourceLang, target }: AzureTarget, { languages }: CallerOffer): Refusal | undefined {
  if (languages.offers(sourceLang, target.targetLang)) return undefined;
  const theirs = (code: string): string => CODES.theirs(code);
  const from = sourceLang === undefined ? '' : ` for texts in ${theirs(sourceLang)}`;
  return wrong(400_023, `${named}: ${target.to} is not offered${from}; ${targetsOffered(sourceLang, languages, theirs)}.`);
}

/** Whether the engine for a pair supports the format. */
export function formatFault({ format, sourceLang, target }: AzureTarget, { canFor }: CallerOffer): Refusal | undefined {
  if (format === 'text' || canFor(sourceLang, target.targetLang).formats.includes(format)) return undefined;
  return wrong(400_071, `textType: the engine of this service does not support ${format}; leave it out.`);
}
