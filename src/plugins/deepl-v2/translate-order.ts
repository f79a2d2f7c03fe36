// What POST /v2/translate means in our terms, and what its reading depends on.
import type { StyleRules, TextFormat, Want } from 'lingate';
import type { CallerOffer } from '../facades/api.ts';
import type { ParameterEntry } from '../facades/parameters.ts';

/** What the parameters besides the texts mean. Codes are canonical. */
export interface ReadOptions extends StyleRules {
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

export interface TranslateRules extends CallerOffer {
  /** Whether parameters of style are passed to engines that take them. */
  readonly passesStyle: boolean;
}

export type TranslateEntry = ParameterEntry<ReadOptions, TranslateRules>;

/** The other forms express a preference. */
export function isRequired(formality: string | undefined): boolean {
  return formality === 'more' || formality === 'less';
}

/** What the options read so far require of an engine. */
export function wantsSoFar({ formality, glossaryIds, format }: ReadOptions): readonly Want[] {
  const wants: Want[] = [];
  if (isRequired(formality)) wants.push('formality');
  if (glossaryIds.length > 0) wants.push('glossary');
  if (format !== 'text') wants.push(format);
  return wants;
}
