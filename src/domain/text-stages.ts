// Plugin stages before the engine: they change texts on the way there and back, or answer them.
import type { Exchange } from '../core/exchange.ts';
import { andThen } from '../core/outcome.ts';
import type { Refusal } from '../core/outcome.ts';
import type { Translation, TranslationOptions } from './translation-options.ts';

/** A piece of work as left by the previous stages. Its request is admitted. */
export interface TextWork {
  /** The request it belongs to; one request may have several pieces of work. */
  readonly x: Exchange;
  /** The team of the request; `undefined` only on a route without `identify`. */
  readonly teamId: string | undefined;
  readonly text: readonly string[];
  /** Including the glossary to use. */
  readonly options: TranslationOptions;
  /** Names of the eligible engines, in the order to try them. */
  readonly engines: readonly string[];
  /** The likely engine: the second while the first is failing, otherwise the first. */
  readonly expected: string;
  /** Whether only the language of the text is asked for. */
  readonly detectionOnly: boolean;
}

/** The result of a stage that changes texts. */
export interface ChangedTexts {
  /** One per text, in order. */
  readonly text: readonly string[];
  /**
   * Makes of the translations of these texts those of the original ones, in order. If absent, they
   * stay. A refusal replaces them.
   */
  after?(translations: readonly Translation[]): OrPromise<Translations>;
}

/** The result of a stage that answers texts. */
export interface KnownTexts {
  /** For each text its translation, or `undefined`: then it goes on to the engine. */
  readonly translations: readonly (Translation | undefined)[];
  /** Whether the characters of the known texts are not charged. */
  readonly spared?: boolean;
  /**
   * Called with the translations of the texts that went on, if any, in order, and the engine. Not
   * called if an earlier stage fails the work afterwards.
   */
  learn?(translations: readonly Translation[], engine: string): void;
}

type OrPromise<T> = T | Promise<T>;

/** `undefined` changes nothing. A refusal is the answer, and nothing is charged. */
export type TextChange = (work: TextWork) => OrPromise<ChangedTexts | Refusal | undefined>;

/** `undefined`: knows nothing and does not want to learn. Not for language detection. */
export type TextAnswer = (work: TextWork) => OrPromise<KnownTexts | undefined>;

export type TextStage =
  | { readonly kind: 'change'; readonly plugin: string; readonly run: TextChange }
  | { readonly kind: 'answer'; readonly plugin: string; readonly run: TextAnswer };

/** What becomes of texts. */
export type Translations = readonly Translation[] | Refusal;

type StageAnswer = ChangedTexts | KnownTexts | Refusal | undefined;

/** A piece of work after the stages, with what remains to be done when its translations arrive. */
export interface PassedTexts {
  /** The work as the last stage left it: its texts go to the engine; empty if all are known. */
  readonly work: TextWork;
  /** Indexes of the original texts that are not charged. */
  readonly spared: readonly number[];
  /** Takes the remaining texts' translations back through the stages, last one first, once. */
  readonly back: (translations: readonly Translation[], engine: string | undefined) => OrPromise<Translations>;
}

interface Passing extends PassedTexts {
  /** Original indexes of the remaining texts. */
  readonly open: readonly number[];
  /** What stages learn once everything has succeeded. */
  readonly lessons: (() => void)[];
}

/** In order; once all texts are known, later stages are skipped. A throw is a plugin's bug. */
export function passStages(work: TextWork, stages: readonly TextStage[]): OrPromise<PassedTexts | Refusal> {
  const lessons: (() => void)[] = [];
  const back: PassedTexts['back'] = (translations) => {
    for (const learn of lessons) learn();
    return translations;
  };
  return passFrom({ work, spared: [], open: [...work.text.keys()], lessons, back }, stages, 0);
}

function passFrom(passing: Passing, stages: readonly TextStage[], first: number): OrPromise<PassedTexts | Refusal> {
  const { work } = passing;
  const stage = stages[first];
  if (stage === undefined || work.text.length === 0) return passing;
  if (stage.kind === 'answer' && work.detectionOnly) return passFrom(passing, stages, first + 1);
  return andThen<StageAnswer, PassedTexts | Refusal>(stage.run(work), (result) => {
    if (result === undefined) return passFrom(passing, stages, first + 1);
    if ('problem' in result) return result;
    const next = 'text' in result ? changedBy(stage.plugin, result, passing) : answeredBy(stage.plugin, result, passing);
    return passFrom(next, stages, first + 1);
  });
}

function changedBy(plugin: string, changed: ChangedTexts, before: Passing): Passing {
  const { text } = changed;
  checkGiven(plugin, 'texts', text, before.work.text, (one) => typeof one === 'string');
  return {
    ...before,
    work: { ...before.work, text },
    back: (translations, engine) =>
      andThen<Translations, Translations>(changed.after?.(translations) ?? translations, (restored) => {
        if ('problem' in restored) return restored;
        checkGiven(plugin, 'translations', restored, text, isTranslation);
        return before.back(restored, engine);
      }),
  };
}

function answeredBy(plugin: string, known: KnownTexts, before: Passing): Passing {
  const { translations } = known;
  const { work, spared, open, lessons } = before;
  checkGiven(plugin, 'translations', translations, work.text, (one) => one === undefined || isTranslation(one));
  const isOpen = (_one: unknown, i: number): boolean => translations[i] === undefined;
  const text = work.text.filter(isOpen);
  return {
    lessons,
    work: { ...work, text },
    spared: known.spared === true ? [...spared, ...open.filter((_one, i) => translations[i] !== undefined)] : spared,
    open: open.filter(isOpen),
    back(found, engine) {
      if (engine !== undefined && text.length > 0) lessons.push(() => known.learn?.(found, engine));
      const rest = found.values();
      return before.back(
        Array.from(translations, (one) => one ?? rest.next().value!),
        engine,
      );
    },
  };
}

/** Throws if a plugin gave no list of the right length, or no texts or translations in it. */
function checkGiven(
  plugin: string,
  what: 'texts' | 'translations',
  given: readonly unknown[],
  expected: readonly unknown[],
  isRight: (one: unknown) => boolean,
): void {
  if (!Array.isArray(given)) throw new TypeError(`plugin ${plugin} gave no list of ${what}`);
  if (given.length !== expected.length) throw new Error(`plugin ${plugin} gave ${given.length} ${what} for ${expected.length}`);
  for (const one of given as readonly unknown[]) {
    if (isRight(one)) continue;
    throw new TypeError(`plugin ${plugin} gave a ${what === 'texts' ? 'text that is none' : 'translation without a text'}`);
  }
}

/** Callers would be charged for a translation without a text. */
function isTranslation(one: unknown): boolean {
  return typeof (one as Partial<Translation> | undefined | null)?.text === 'string';
}
