// A piece of work for the engine: the texts through the plugins' stages and back, and what the engine's result means for the request.
import type { Exchange } from '../../core/exchange.ts';
import type { Refusal } from '../../core/outcome.ts';
import { countCharacters } from '../../domain/characters.ts';
import { spareCharacters } from '../../domain/charge.ts';
import { ONE_ENGINE } from '../../domain/engine-choice.ts';
import type { ChosenEngines, TakesGlossary } from '../../domain/engine-choice.ts';
import type { CurrentOffers } from '../../domain/engine-offer.ts';
import { laterWorkId } from '../../domain/request-id.ts';
import { keyOwnerSlot, noteFailure, requestStatsSlot, traceSlot } from '../../domain/slots.ts';
import { ENGINE_UNAVAILABLE, GLOSSARY_NOT_TAKEN, NO_DETECTION, SOURCE_LANG_NEEDED } from '../../domain/refusals.ts';
import { passStages } from '../../domain/text-stages.ts';
import type { PassedTexts, TextStage } from '../../domain/text-stages.ts';
import type { AttemptsTrace } from '../../domain/request-trace.ts';
import { traceparentForward } from '../../domain/traceparent.ts';
import type { PassTraceparent } from '../../domain/traceparent.ts';
import type { EngineGlossary, TranslationOptions } from '../../domain/translation-options.ts';
import type { AskedWork, AttemptFailure, Engine, EngineResult, EngineWork, FailureDetail, Translation } from '../../ports/engine.ts';
import type { GlossaryCache } from '../../ports/glossary-store.ts';
import type { TranslationOrder } from '../../ports/gateway-services.ts';

/** What translating needs of the gateway. */
export interface TranslateOptions {
  readonly engine: Engine;
  readonly takesGlossary: TakesGlossary;
  /** Whether an engine has used up its characters; `undefined` if none is limited. */
  readonly isSpent?: ((engine: string) => boolean) | undefined;
  readonly glossaries: GlossaryCache;
  readonly offers: CurrentOffers;
  /** The plugins' stages in front of the engine. */
  readonly stages: readonly TextStage[];
  /** What engines get of a caller's `traceparent` if the request is not traced; by default its trace and flags. */
  readonly passTraceparent?: PassTraceparent | undefined;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Called with the failures of a request's attempts, in fixed words, if there were any. */
  readonly onFailures: (failures: readonly AttemptFailure[]) => void;
}

/** What the engine is asked to do; the rest of its work comes from the request. */
export type WorkOrder = Pick<EngineWork, 'text' | 'options' | 'attemptMs' | 'detectionOnly'> & Pick<TranslationOrder, 'charged'>;

const ATTEMPTS = 2;
const NONE: readonly Translation[] = [];
const NOTHING_SPARED: ReadonlySet<number> = new Set();

/** A single object per piece of work: the request to the engine, its callback, and the context for its result. */
export class PendingWork implements AskedWork {
  readonly requestId: string;
  readonly teamId: string | undefined;
  text: readonly string[];
  readonly options: TranslationOptions;
  readonly traceparent: string | undefined;
  readonly trace: AttemptsTrace | undefined;
  readonly attemptMs: number | undefined;
  readonly detectionOnly: boolean | undefined;
  readonly engines: ChosenEngines;
  readonly x: Exchange;
  readonly order: WorkOrder;
  readonly by: TranslateOptions;
  startedAtMs: number;
  #passed: PassedTexts | undefined = undefined;
  /** Indexes of the order's texts that are not charged. */
  #spared: ReadonlySet<number> = NOTHING_SPARED;
  #result: EngineResult | undefined = undefined;
  readonly #onDone: (work: PendingWork) => void;

  /** `onDone` is called when the engine has answered; it must not throw. */
  constructor(
    x: Exchange,
    order: WorkOrder,
    glossary: EngineGlossary | undefined,
    engines: ChosenEngines,
    by: TranslateOptions,
    onDone: (work: PendingWork) => void,
  ) {
    const { options } = order;
    const works = ++x.need(requestStatsSlot).works;
    // The request's own id for its first work; later ones get a numeric suffix, so that answers cannot be confused.
    this.requestId = works === 1 ? x.id : laterWorkId(x.id, works);
    this.teamId = x.get(keyOwnerSlot)?.teamId;
    this.text = order.text;
    this.options = glossary === undefined ? options : { ...options, glossary };
    const traceparent = x.head.headers['traceparent'];
    this.traceparent = traceparent === undefined ? undefined : (by.passTraceparent ?? traceparentForward)(traceparent);
    this.trace = x.get(traceSlot);
    this.attemptMs = order.attemptMs;
    this.detectionOnly = order.detectionOnly;
    this.engines = engines;
    this.x = x;
    this.order = order;
    this.by = by;
    this.startedAtMs = by.now();
    this.#onDone = onDone;
  }

  attemptFailed({ failure, cause, status }: FailureDetail): void {
    // A caller who has left is no failure of the engine's.
    if (failure === 'cancelled') return;
    const detail = cause ?? (failure === 'status' ? status : undefined);
    noteFailure(this.x.need(requestStatsSlot), detail === undefined ? failure : `${failure}:${detail}`);
  }

  answered(result: EngineResult): void {
    this.#result = result;
    this.#onDone(this);
  }

  /** Runs the texts through the plugins' stages; `text` then contains those left for the engine. */
  pass(): Refusal | undefined | Promise<Refusal | undefined> {
    const { x, teamId, text, options, detectionOnly } = this;
    const engines = this.engines ?? ONE_ENGINE;
    const instead = engines.length > 1 && this.by.engine.isFailing?.(engines[0]!) === true;
    const expected = engines[instead ? 1 : 0]!;
    const work = { x, teamId, text, options, engines, expected, detectionOnly: detectionOnly === true };
    const passed = passStages(work, this.by.stages);
    return passed instanceof Promise ? passed.then((late) => this.#hasPassed(late)) : this.#hasPassed(passed);
  }

  #hasPassed(passed: PassedTexts | Refusal): Refusal | undefined {
    if ('problem' in passed) return passed;
    // The engine is not waited for before.
    this.startedAtMs = this.by.now();
    this.#passed = passed;
    if (passed.spared.length > 0) this.#spared = this.#spare(passed.spared);
    this.text = passed.work.text;
    return undefined;
  }

  #spare(known: readonly number[]): ReadonlySet<number> {
    const { text, charged } = this.order;
    return new Set(known.filter((i) => spareCharacters(this.x, charged?.[i] ?? countCharacters(text[i]!))));
  }

  /** The translations, once the engine has answered or was not needed. Also updates the request's stats. Call it once. */
  finished(): readonly Translation[] | Refusal | Promise<readonly Translation[] | Refusal> {
    const result = this.#result;
    if (result !== undefined) {
      const { engines = ONE_ENGINE } = this;
      const { failures } = result;
      const stats = this.x.need(requestStatsSlot);
      // Several works overlap, so the durations are not added up; the attempts are.
      stats.engineMs = Math.max(stats.engineMs, this.by.now() - this.startedAtMs);
      stats.attempts += failures.length + (result.kind === 'usable' ? 1 : 0);
      // A single failed attempt went to the first engine; after two, the last was the second engine, if there is one.
      if (result.kind === 'usable') stats.engine = result.engine;
      else if (failures.length > 0) stats.engine = engines[Math.min(failures.length, engines.length) - 1];
      if (failures.length > 0) this.by.onFailures(failures);
      if (result.kind !== 'usable') return this.#failed(failures);
    }
    const translations = result?.translations ?? NONE;
    if (this.#passed === undefined) return translations;
    const back = this.#passed.back(translations, result?.engine);
    return back instanceof Promise ? back.then((late) => this.#marked(late)) : this.#marked(back);
  }

  /** The refusal of work that no engine could do, because none detects languages: known from other requests, without a call. */
  unserved(): Refusal | undefined {
    if (this.options.sourceLang !== undefined) return undefined;
    return (this.engines ?? ONE_ENGINE).every((name) => this.by.engine.cannotDetect?.(name) === true) ? this.#languageNeeded : undefined;
  }

  /** What no later attempt would change is told as such. */
  #failed(failures: readonly AttemptFailure[]): Refusal {
    if (this.#lacksDetection(failures)) return this.#languageNeeded;
    const isRefused = failures.length > 0 && failures.every((failure) => failure === 'glossary_refused');
    return isRefused ? GLOSSARY_NOT_TAKEN : ENGINE_UNAVAILABLE;
  }

  /** Every attempt failed for that reason, and there is no further engine that may detect. */
  #lacksDetection(failures: readonly AttemptFailure[]): boolean {
    if (failures.length === 0 || !failures.every((failure) => failure === 'no_detection')) return false;
    return (this.engines ?? ONE_ENGINE).slice(ATTEMPTS).every((name) => this.by.engine.cannotDetect?.(name) === true);
  }

  get #languageNeeded(): Refusal {
    return this.detectionOnly === true ? NO_DETECTION : SOURCE_LANG_NEEDED;
  }

  #marked(translations: readonly Translation[] | Refusal): readonly Translation[] | Refusal {
    if ('problem' in translations || this.#spared.size === 0) return translations;
    return translations.map((translation, i) => (this.#spared.has(i) ? { ...translation, isSpared: true } : translation));
  }
}
