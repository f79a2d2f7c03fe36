// Codes of languages as Azure writes them, such as `de`, `pt-PT` and `zh-Hans`, and the parameters that
// several versions of its API have, with its numbers for wrong values.
import { refuse, targetsOffered } from 'lingate';
import type { Languages, Refusal, TextFormat } from 'lingate';
import type { CallerOffer } from '../facades/api.ts';
import { sourceNamed, targetNamed } from '../facades/code-names.ts';
import type { DefaultVariants } from '../facades/default-variants.ts';
import { standardCode } from '../facades/language-names.ts';
import type { Judged } from '../facades/members.ts';
import type { ParameterDoc } from '../facades/parameters.ts';
import { wordOf, wrong } from './azure-request.ts';

/** Our codes that Azure writes differently, not just in another case. */
const THEIRS: ReadonlyMap<string, string> = new Map([
  ['ZH-CN', 'zh-Hans'],
  ['ZH-TW', 'zh-Hant'],
  ['NO', 'nb'],
  ['IW', 'he'],
  ['SR', 'sr-Cyrl'],
  ['MN', 'mn-Cyrl'],
  ['NY', 'nya'],
  ['LG', 'lug'],
  ['RN', 'run'],
  ['CKB', 'ku'],
  ['KU', 'kmr'],
  ['HMN', 'mww'],
  ['TL', 'fil'],
]);
/** Codes that mean another language here than elsewhere: Kurdish is the one of Iraq. */
const OURS: ReadonlyMap<string, string> = new Map([['ku', 'CKB']]);

/** `code` is in upper case. A bare `ZH` is simplified Chinese. */
export function theirCode(code: string): string {
  return THEIRS.get(code) ?? standardCode(code);
}

export interface Target {
  /** The code in the answer, in Azure's spelling: the requested one, or the one that it means. */
  readonly to: string;
  /** Canonical. */
  readonly targetLang: string;
}

/** The target for a code; `undefined` if it is none. */
export function targetCode(value: string, languages: Languages, variants: DefaultVariants): Target | undefined {
  const found = targetNamed(OURS.get(value.toLowerCase()) ?? value, languages, variants);
  return found === undefined ? undefined : { to: theirCode(found.name), targetLang: found.code };
}

/** The canonical source for a code; `undefined` if it is none. */
export function sourceCode(value: string, languages: Languages): string | undefined {
  return sourceNamed(OURS.get(value.toLowerCase()) ?? value, languages);
}

/** Each is a separate call to the engine. */
export const TARGETS_MAX = 50;

type WithRefusal = ParameterDoc & { readonly does: 'refused'; readonly refusal: (named: string) => Refusal };
type WithoutEffect = ParameterDoc & { readonly does: 'nothing'; readonly faultOf: (value: unknown, named: string) => Refusal | undefined };

/** A parameter that is checked and has no effect. */
export function unused(name: string, words: readonly string[]): WithoutEffect {
  return {
    name,
    does: 'nothing',
    about: `${words.map((word) => `\`${word}\``).join(' or ')}.`,
    example: words[0]!,
    faultOf(value, named) {
      const judged = wordOf(value, named, words);
      return 'problem' in judged ? judged : undefined;
    },
  };
}

/** A parameter of which only one value is accepted, or none. `because` is the rest of a sentence about this service. */
export function refused(name: string, but: string | undefined, because: string, number = 400_000): WithRefusal {
  const refusal = (named: string): Refusal =>
    wrong(number, `${named}: this service ${because}; leave it out${but === undefined ? '' : `, or send ${but}`}.`);
  const why = `This service ${because}.`;
  return { name, does: 'refused', about: why, ...(but === undefined ? {} : { but: [but], example: but }), refusal };
}

export function wrongTarget(message: string): Refusal {
  return refuse('invalid_target_lang', message);
}

/** The target for a code. */
export function readTarget(value: unknown, named: string, { languages, variants }: CallerOffer): Judged<Target> {
  const valid = typeof value === 'string' ? targetCode(value, languages, variants) : undefined;
  return valid === undefined ? wrongTarget(`${named}: must be a code of a target language that GET /languages lists.`) : { valid };
}

/** The canonical source; `undefined` if it shall be detected. */
export function readSource(value: unknown, named: string, languages: Languages): Judged<string | undefined> {
  if (typeof value !== 'string') return refuse('invalid_source_lang', `${named}: must be one code.`);
  if (value.toLowerCase() === 'auto') return { valid: undefined };
  const valid = sourceCode(value, languages);
  return valid === undefined
    ? refuse('invalid_source_lang', `${named}: must be a code of a source language that GET /languages lists, or be left out.`)
    : { valid };
}

export function pairFault(
  named: string,
  sourceLang: string | undefined,
  { to, targetLang }: Target,
  languages: Languages,
): Refusal | undefined {
  if (languages.offers(sourceLang, targetLang)) return undefined;
  const from = sourceLang === undefined ? '' : ` for texts in ${theirCode(sourceLang)}`;
  return wrong(400_023, `${named}: ${to} is not offered${from}; ${targetsOffered(sourceLang, languages, theirCode)}.`);
}

export function readFormat(value: unknown, named: string): Judged<TextFormat> {
  const type = wordOf(value, named, ['plain', 'html'], 400_071);
  return 'problem' in type ? type : { valid: type.valid === 'html' ? 'html' : 'text' };
}

/** Whether the engine for a pair supports the format. */
export function formatFault(
  named: string,
  format: TextFormat,
  sourceLang: string | undefined,
  targetLang: string,
  { canFor }: CallerOffer,
): Refusal | undefined {
  if (format === 'text' || canFor(sourceLang, targetLang).formats.includes(format)) return undefined;
  return wrong(400_071, `${named}: the engine of this service does not support ${format}; leave it out.`);
}
