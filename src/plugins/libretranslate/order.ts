// A translation that was asked for: what goes to the engine, and in what shape the answer is to come.
import type { TranslationOptions } from 'lingate';

export interface Order {
  /** As they were sent. */
  readonly entries: readonly string[];
  /** The entries that are not empty: only these go to the engine. */
  readonly text: readonly string[];
  readonly characters: number;
  readonly options: TranslationOptions;
  readonly shape: AnswerShape;
}

export type AnswerShape =
  | { readonly kind: 'libretranslate'; readonly isList: boolean; /** Were asked for. */ readonly alternatives: boolean }
  /** DeepLX's. */
  | { readonly kind: 'deeplx' };
