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

/** What a stage did with a piece of work, to be reverted on the way back. */
type StageResult =
  | { readonly kind: 'changed'; readonly plugin: string; readonly changed: ChangedTexts }
  /** `open`: how many texts went on. */
  | { readonly kind: 'known'; readonly known: KnownTexts; readonly open: number };

/** In order; once all texts are known, later stages are skipped. A throw is a plugin's bug. */
export function passStages(work: TextWork, stages: readonly TextStage[]): OrPromise<PassedTexts | Refusal> {
  return passFrom(new PassedTexts(work), stages, 0);
}

function passFrom(passed: PassedTexts, stages: readonly TextStage[], first: number): OrPromise<PassedTexts | Refusal> {
  for (let i = first; i < stages.length && passed.work.text.length > 0; i++) {
    const stage = stages[i]!;
    if (stage.kind === 'answer' && passed.work.detectionOnly) continue;
    return andThen<StageAnswer, PassedTexts | Refusal>(
      stage.run(passed.work),
      (result) => passed.taken(stage.plugin, result) ?? passFrom(passed, stages, i + 1),
    );
  }
  return passed;
}

/** A piece of work after the stages, with what remains to be done when its translations arrive. */
export class PassedTexts {
  /** The work as the last stage left it: its texts go to the engine; empty if all are known. */
  work: TextWork;
  /** Original indexes of the remaining texts; `undefined` while all remain. */
  #indexes: readonly number[] | undefined = undefined;
  #spared: readonly number[] = NONE;
  readonly #taken: StageResult[] = [];

  constructor(work: TextWork) {
    this.work = work;
  }

  /** Indexes of the original texts that are not charged. */
  get spared(): readonly number[] {
    return this.#spared;
  }

  /** Applies the result of a stage. */
  taken(plugin: string, result: StageAnswer): Refusal | undefined {
    if (result === undefined) return undefined;
    if ('problem' in result) return result;
    if ('text' in result) this.#change(plugin, result);
    else this.#answer(plugin, result);
    return undefined;
  }

  #change(plugin: string, changed: ChangedTexts): void {
    checkGiven(plugin, 'texts', changed.text, this.work.text, (text) => typeof text === 'string');
    this.work = { ...this.work, text: changed.text };
    this.#taken.push({ kind: 'changed', plugin, changed });
  }

  #answer(plugin: string, known: KnownTexts): void {
    const { translations } = known;
    const { text } = this.work;
    checkGiven(plugin, 'translations', translations, text, (one) => one === undefined || isTranslation(one));
    const open = countOpen(translations);
    if (open < text.length) {
      const indexes = this.#indexes ?? [...text.keys()];
      const isOpen = (_one: unknown, i: number): boolean => translations[i] === undefined;
      if (known.spared === true) this.#spared = [...this.#spared, ...indexes.filter((_index, i) => translations[i] !== undefined)];
      this.#indexes = indexes.filter(isOpen);
      this.work = { ...this.work, text: text.filter(isOpen) };
    }
    this.#taken.push({ kind: 'known', known, open });
  }

  /** Takes the remaining texts' translations back through the stages, last one first, once. */
  back(translations: readonly Translation[], engine: string | undefined): OrPromise<Translations> {
    return this.#back(translations, engine, this.#taken.length - 1, []);
  }

  /** Continues at stage `last`. The `lessons` are learnt once everything has succeeded. */
  #back(translations: readonly Translation[], engine: string | undefined, last: number, lessons: Lesson[]): OrPromise<Translations> {
    let current = translations;
    for (let i = last; i >= 0; i--) {
      const taken = this.#taken[i]!;
      if (taken.kind === 'known') {
        const { known, open } = taken;
        if (engine !== undefined && open > 0) lessons.push({ known, translations: current });
        current = joined(known.translations, current, open);
        continue;
      }
      return andThen<Translations, Translations>(taken.changed.after?.(current) ?? current, (restored) => {
        if ('problem' in restored) return restored;
        checkGiven(taken.plugin, 'translations', restored, taken.changed.text, isTranslation);
        return this.#back(restored, engine, i - 1, lessons);
      });
    }
    for (const lesson of lessons) lesson.known.learn?.(lesson.translations, engine!);
    return current;
  }
}

/** Translations of the texts that a stage did not know. */
interface Lesson {
  readonly known: KnownTexts;
  readonly translations: readonly Translation[];
}

const NONE: readonly never[] = [];

function countOpen(translations: KnownTexts['translations']): number {
  let open = 0;
  for (let i = 0; i < translations.length; i++) if (translations[i] === undefined) open++;
  return open;
}

function joined(known: KnownTexts['translations'], rest: readonly Translation[], open: number): readonly Translation[] {
  if (open === known.length) return rest;
  let next = 0;
  return known.map((one) => one ?? rest[next++]!);
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
