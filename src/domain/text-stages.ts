// What plugins put between the admission and the engine: stages that change texts on their way there and back, or answer them.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { Translation, TranslationOptions } from './translation-options.ts';

/** One piece of work on its way to the engine, as the stages before have left it. Its request is admitted. */
export interface TextWork {
  /** The request that it is done for; several pieces of work may be of one request. */
  readonly x: Exchange;
  /** Whose request it is; `undefined` only on a route without `identify`. */
  readonly teamId: string | undefined;
  readonly text: readonly string[];
  /** With the glossary that serves. */
  readonly options: TranslationOptions;
  /** Names of the engines that may do it, in the order in which they are tried. */
  readonly engines: readonly string[];
  /** Only the language of the text is asked for. */
  readonly detectionOnly: boolean;
}

/** What a stage that changes texts makes of a piece of work. */
export interface ChangedTexts {
  /** As many as there were, in their order. */
  readonly text: readonly string[];
  /**
   * Called with the translations of these texts, and gives those of the original ones: as many, in their order. Without it
   * they are passed on as they are. A refusal is answered in their place.
   */
  after?(translations: readonly Translation[]): OrPromise<Translations>;
}

/** What a stage that answers texts knows of a piece of work. */
export interface KnownTexts {
  /** One entry for each text, in their order: its translation, or `undefined` where it is not known; those go on. */
  readonly translations: readonly (Translation | undefined)[];
  /** Whether the characters of the texts that are known are not charged. */
  readonly spared?: boolean;
  /**
   * Called with the translations of the texts that went on, if there were any, in their order, and the name of the engine that
   * made them; not when the work fails after all, in a stage in front of this one.
   */
  learn?(translations: readonly Translation[], engine: string): void;
}

type OrPromise<T> = T | Promise<T>;

/** Gives `undefined` where nothing is to be changed; a refusal is the request's answer, and nothing is charged. */
export type TextChange = (work: TextWork) => OrPromise<ChangedTexts | Refusal | undefined>;

/** Gives `undefined` where nothing is known and nothing to be learnt. Not asked for the language of a text. */
export type TextAnswer = (work: TextWork) => OrPromise<KnownTexts | undefined>;

export type TextStage =
  | { readonly kind: 'change'; readonly plugin: string; readonly run: TextChange }
  | { readonly kind: 'answer'; readonly plugin: string; readonly run: TextAnswer };

type Translations = readonly Translation[] | Refusal;

/** Undoes on the way back what a stage did on the way there. `engine` is `undefined` where none was asked. */
type Undo = (translations: readonly Translation[], engine: string | undefined) => OrPromise<Translations>;

/** Takes work through the stages in their order; those behind one that knows all of it are not called. A throw is a bug of the plugin. */
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

/** A piece of work that has passed stages, and what they are owed when its translations come. */
export class PassedTexts {
  /** As the last stage has left it: its texts are those for the engine, none where all are known. */
  work: TextWork;
  /** Where the texts of the work stood when it came. */
  #places: readonly number[];
  #spared: readonly number[] = [];
  readonly #undo: Undo[] = [];
  readonly #learn: (() => void)[] = [];

  constructor(work: TextWork) {
    this.work = work;
    this.#places = [...work.text.keys()];
  }

  /** Which of the texts that came are not charged, by their indexes. */
  get spared(): readonly number[] {
    return this.#spared;
  }

  /** What a stage has made of the work. */
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

  /** Takes the translations of what was left back through the stages, the last one first. To be called once. */
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
