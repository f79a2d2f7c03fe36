// Plugin stages between the admission and the engine: they change texts on the way there and back, or answer them.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { Translation, TranslationOptions } from './translation-options.ts';

/** One piece of work on its way to the engine, as left by the previous stages. Its request is admitted. */
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
  /** Whether only the language of the text is wanted. */
  readonly detectionOnly: boolean;
}

/** The result of a stage that changes texts. */
export interface ChangedTexts {
  /** One per text, in order. */
  readonly text: readonly string[];
  /**
   * Called with the translations of these texts; returns those of the original texts, one per text in order. If absent, they
   * are passed on unchanged. A refusal replaces them.
   */
  after?(translations: readonly Translation[]): OrPromise<Translations>;
}

/** The result of a stage that answers texts. */
export interface KnownTexts {
  /** One entry per text, in order: its translation, or `undefined` if unknown, in which case the text goes on to the engine. */
  readonly translations: readonly (Translation | undefined)[];
  /** Whether the characters of the known texts are not charged. */
  readonly spared?: boolean;
  /**
   * Called with the translations of the texts that went on, if any, in order, and the name of the engine. Not called if an
   * earlier stage fails the work afterwards.
   */
  learn?(translations: readonly Translation[], engine: string): void;
}

type OrPromise<T> = T | Promise<T>;

/** Returns `undefined` to change nothing. A refusal becomes the request's answer, and nothing is charged. */
export type TextChange = (work: TextWork) => OrPromise<ChangedTexts | Refusal | undefined>;

/** Returns `undefined` if it knows nothing and does not want to learn. Not called for language detection. */
export type TextAnswer = (work: TextWork) => OrPromise<KnownTexts | undefined>;

export type TextStage =
  | { readonly kind: 'change'; readonly plugin: string; readonly run: TextChange }
  | { readonly kind: 'answer'; readonly plugin: string; readonly run: TextAnswer };

type Translations = readonly Translation[] | Refusal;

/** Reverts a stage's change on the way back. `engine` is `undefined` if no engine was called. */
type Undo = (translations: readonly Translation[], engine: string | undefined) => OrPromise<Translations>;

/** Runs work through the stages in order; once all texts are known, later stages are skipped. A throw is a bug of the plugin. */
export function passStages(work: TextWork, stages: readonly TextStage[]): OrPromise<PassedTexts | Refusal> {
  return passFrom(new PassedTexts(work), stages, 0);
}

function passFrom(passed: PassedTexts, stages: readonly TextStage[], first: number): OrPromise<PassedTexts | Refusal> {
  for (let i = first; i < stages.length && passed.work.text.length > 0; i++) {
    const stage = stages[i]!;
    if (stage.kind === 'answer' && passed.work.detectionOnly) continue;
    const result = stage.run(passed.work);
    if (result instanceof Promise) {
      return result.then((late) => passed.taken(stage.plugin, late) ?? passFrom(passed, stages, i + 1));
    }
    const refusal = passed.taken(stage.plugin, result);
    if (refusal !== undefined) return refusal;
  }
  return passed;
}

/** A piece of work after the stages, with what remains to be done when its translations arrive. */
export class PassedTexts {
  /** The work as the last stage left it: its texts go to the engine; empty if all are known. */
  work: TextWork;
  /** Original indexes of the remaining texts. */
  #places: readonly number[];
  #spared: readonly number[] = [];
  readonly #undo: Undo[] = [];
  readonly #learn: (() => void)[] = [];

  constructor(work: TextWork) {
    this.work = work;
    this.#places = [...work.text.keys()];
  }

  /** Indexes of the original texts that are not charged. */
  get spared(): readonly number[] {
    return this.#spared;
  }

  /** Applies the result of a stage. */
  taken(plugin: string, result: ChangedTexts | KnownTexts | Refusal | undefined): Refusal | undefined {
    if (result === undefined) return undefined;
    if ('problem' in result) return result;
    if ('text' in result) this.#change(plugin, result);
    else this.#answer(plugin, result);
    return undefined;
  }

  #change(plugin: string, changed: ChangedTexts): void {
    const { text } = changed;
    checkCount(plugin, 'texts', text, this.work.text);
    this.work = { ...this.work, text };
    this.#undo.push((translations) => {
      const restored = changed.after === undefined ? translations : changed.after(translations);
      return restored instanceof Promise ? restored.then((late) => counted(late)) : counted(restored);
    });

    function counted(translations: Translations): Translations {
      if (!('problem' in translations)) checkCount(plugin, 'translations', translations, text);
      return translations;
    }
  }

  #answer(plugin: string, known: KnownTexts): void {
    const { translations } = known;
    const { text } = this.work;
    const places = this.#places;
    checkCount(plugin, 'translations', translations, text);
    const open = [...translations.keys()].filter((i) => translations[i] === undefined);
    if (open.length < text.length) {
      if (known.spared === true) this.#spared = [...this.#spared, ...places.filter((_place, i) => translations[i] !== undefined)];
      this.#places = open.map((i) => places[i]!);
      this.work = { ...this.work, text: open.map((i) => text[i]!) };
    }
    this.#undo.push((rest, engine) => {
      if (engine !== undefined && open.length > 0) this.#learn.push(() => known.learn?.(rest, engine));
      let next = 0;
      return open.length === text.length ? rest : translations.map((one) => one ?? rest[next++]!);
    });
  }

  /** Takes the translations of the remaining texts back through the stages, last one first. Call it once. */
  back(translations: readonly Translation[], engine: string | undefined): OrPromise<Translations> {
    let current: Translations = translations;
    for (let undo = this.#undo.pop(); undo !== undefined; undo = this.#undo.pop()) {
      const undone: OrPromise<Translations> = undo(current, engine);
      if (undone instanceof Promise) return undone.then((late) => ('problem' in late ? late : this.back(late, engine)));
      if ('problem' in undone) return undone;
      current = undone;
    }
    for (const learn of this.#learn) learn();
    return current;
  }
}

function checkCount(plugin: string, what: string, given: readonly unknown[], wanted: readonly unknown[]): void {
  if (given.length === wanted.length) return;
  throw new Error(`plugin ${plugin} gave ${given.length} ${what} for ${wanted.length}`);
}
