// What a version of Azure's API consists of; each has a file of its own, and `azure-versions.ts` lists them.
import type { TranslationOptions } from 'lingate';
import Type from 'typebox';
import type { TSchema } from 'typebox';
import type { CallerOffer } from '../facades/api.ts';
import type { Judged } from '../facades/members.ts';
import type { Described } from '../facades/parameters.ts';
import { number, string } from '../facades/reference.ts';
import type { Query } from './azure-request.ts';

/** Engines report a language without a confidence; it is the one from which they translated. */
export const SCORE = 1;

export const Detected = Type.Object(
  { language: string('The code.'), score: number('Always 1: engines report no confidence.') },
  { description: 'If no source language was given and the engine reports it.' },
);

/** A text and its translations. An empty one is answered with empty ones. */
export interface AzureInput {
  readonly text: string;
  readonly into: readonly AzureTarget[];
}

export interface AzureTarget {
  /** The code in the answer. */
  readonly to: string;
  /** Canonical codes. */
  readonly options: TranslationOptions;
}

/** A request whose body was parsed. */
export interface ReadTranslation {
  /** Of every text, once for each of its targets. */
  readonly characters: number;
  /** Checks what depends on the offer; called again after the admission if that depends on the plan. */
  readonly judge: (rules: CallerOffer) => Judged<readonly AzureInput[]>;
}

/**
 * Returns the parsed body, `undefined` without one, or the refusal of one that is not JSON. `list` is the member with the texts, so that
 * too many of them are refused before they are parsed; `undefined` if the body itself is the list.
 */
export type ReadJson = (list: string | undefined) => Judged<unknown>;

/** A translation as the engine returned it, with the code that was requested. */
interface Told {
  readonly to: string;
  readonly text: string;
  /** Of the text that was translated. */
  readonly sourceCharacters: number;
}

export interface AzureVersion {
  /** The value of `api-version`. */
  readonly version: string;
  /** How it writes the number of an error. */
  readonly codeOf: (number: number) => number | string;
  readonly translate: {
    /** In the query; in the body. */
    readonly query: Described;
    readonly body: Described;
    readonly bodySchema: TSchema;
    readonly bodyExample: unknown;
    readonly answerSchema: TSchema;
    readonly answerExample: unknown;
    readonly read: (query: Query, readJson: ReadJson) => Judged<ReadTranslation>;
    /** The answer: for each text its translations, and the code of its language if the engine has detected it. */
    readonly answer: (texts: readonly { readonly detected: string | undefined; readonly translations: readonly Told[] }[]) => unknown;
  };
  /** The values of `scope` of /languages. */
  readonly scopes: readonly string[];
  /** The models of each language there, if its version has them. */
  readonly models: readonly string[] | undefined;
}
