// What is currently offered: the operator's language list, restricted by the pairs of each engine (all, listed, or reported by its
// replicas, which are asked periodically) and by the routing rules.
import { offersOf } from '../domain/engine-offer.ts';
import type { EngineCapabilities, EngineOffers } from '../domain/engine-offer.ts';
import { pairsOfList } from '../domain/engine-routing.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { LanguageTable, PairTest } from '../domain/languages.ts';
import type { FailureDetail, ReplicaPairs } from '../ports/engine.ts';
import type { Log } from '../ports/log.ts';

/** The part of the configuration that a reload may change. */
export interface OfferedByConfig {
  readonly table: LanguageTable;
  /** In order, with the source of each engine's pairs. */
  readonly pairs: ReadonlyMap<string, PairsMode>;
  /** `undefined` uses all engines in order. */
  readonly rules: readonly RoutingRule[] | undefined;
}

interface OfferedLanguagesOptions extends Pick<EnginePairsOptions, 'log' | 'adviceFor' | 'later'> {
  readonly config: OfferedByConfig;
  readonly engines: readonly (Pick<EnginePairsOptions, 'ask'> & { readonly name: string; readonly can: EngineCapabilities })[];
}

export class OfferedLanguages {
  /** Replaced whenever something changes, so that derived data can be invalidated by comparing its identity. */
  current: EngineOffers;
  readonly #options: OfferedLanguagesOptions;
  readonly #pairs = new Map<string, EnginePairs>();
  #config: OfferedByConfig;

  constructor(options: OfferedLanguagesOptions) {
    this.#options = options;
    this.#config = options.config;
    const { table, pairs } = options.config;
    for (const { name, ask } of options.engines) {
      const { log, adviceFor, later } = options;
      const onChange = (): void => void (this.current = this.#made());
      this.#pairs.set(name, new EnginePairs({ engine: name, table, pairs: pairs.get(name)!, ask, onChange, log, adviceFor, later }));
    }
    this.current = this.#made();
  }

  /** Applies a new configuration for the same engines; those that can report pairs are queried again. */
  replace(config: OfferedByConfig): void {
    this.#config = config;
    for (const [name, pairs] of this.#pairs) pairs.replace(config.table, config.pairs.get(name)!);
    this.current = this.#made();
  }

  /** Queries all engines that can report pairs. */
  ask(): void {
    for (const pairs of this.#pairs.values()) pairs.ask();
  }

  close(): void {
    for (const pairs of this.#pairs.values()) pairs.close();
  }

  #made(): EngineOffers {
    const { table, pairs, rules } = this.#config;
    const engines = [...pairs.keys()].map((name) => ({
      name,
      can: this.#options.engines.find((engine) => engine.name === name)!.can,
      pairs: this.#pairs.get(name)!.test,
    }));
    return offersOf(table, engines, rules);
  }
}

/** `any`: every pair of the language list. `ask`: those that the engine reports. Otherwise an explicit list. */
export type PairsMode = 'any' | 'ask' | readonly string[];

interface EnginePairsOptions {
  readonly engine: string;
  readonly table: LanguageTable;
  readonly pairs: PairsMode;
  /**
   * Queries every replica, within a time limit; never rejects. `undefined` if the engine cannot report pairs: `ask` then means
   * `any`.
   */
  readonly ask: (() => Promise<readonly ReplicaPairs[]>) | undefined;
  /** Called when the replicas offer different pairs than before. */
  readonly onChange: () => void;
  readonly log: Log;
  /** What an operator should do about a failure. */
  readonly adviceFor: (failure: FailureDetail) => string;
  /** Schedules a callback and returns a function that cancels it; replaced in tests. */
  readonly later?: ((run: () => void, ms: number) => () => void) | undefined;
}

const ASK_EVERY_MS = 600_000;
/** A replica that did not answer, perhaps because it is starting, is queried again sooner. The delay doubles each time. */
const ASK_AGAIN_MS = 5000;
/** The longest delay while no replica has answered at all. */
const ASK_NOBODY_MS = 60_000;
const LOGGED_PAIRS_MAX = 50;

class EnginePairs {
  /** `undefined` means every pair. */
  test: PairTest | undefined;
  readonly #options: EnginePairsOptions;
  readonly #later: (run: () => void, ms: number) => () => void;
  #table: LanguageTable;
  #pairs: PairsMode;
  /** The last valid answer of each replica, by URL. */
  readonly #reported = new Map<string, PairTest>();
  /** Replicas that did not answer the last query. */
  readonly #silent = new Set<string>();
  /** The reported pairs as last logged. */
  #logged: string | undefined = undefined;
  #againMs = ASK_AGAIN_MS;
  /** Numbers the queries: only the answer to the latest one counts. */
  #asked = 0;
  #closed = false;
  #callOff = (): void => undefined;

  constructor(options: EnginePairsOptions) {
    this.#options = options;
    this.#later = options.later ?? laterBy;
    this.#table = options.table;
    this.#pairs = options.pairs;
    this.test = this.#made();
    this.ask();
  }

  /** Applies a new configuration and queries the engine again. */
  replace(table: LanguageTable, pairs: PairsMode): void {
    this.#table = table;
    this.#pairs = pairs;
    this.test = this.#made();
    this.ask();
  }

  /** Queries all replicas if configured to. Runs in the background. */
  ask(): void {
    const { ask } = this.#options;
    if (this.#pairs !== 'ask' || ask === undefined || this.#closed) return;
    this.#callOff();
    // An earlier query may still be in flight, possibly to different replicas.
    const question = ++this.#asked;
    void ask().then((answers) => question === this.#asked && this.#answered(answers));
  }

  close(): void {
    this.#closed = true;
    this.#callOff();
  }

  #answered(answers: readonly ReplicaPairs[]): void {
    if (this.#closed) return;
    for (const answer of answers) this.#take(answer);
    for (const url of this.#reported.keys()) if (!answers.some((answer) => answer.url === url)) this.#reported.delete(url);
    for (const url of this.#silent) if (!answers.some((answer) => answer.url === url)) this.#silent.delete(url);
    this.#renew();
    this.#callOff = this.#later(() => this.ask(), this.#pauseMs());
  }

  #pauseMs(): number {
    const againMs = Math.min(this.#againMs, this.#reported.size === 0 ? ASK_NOBODY_MS : ASK_EVERY_MS);
    this.#againMs = this.#silent.size === 0 ? ASK_AGAIN_MS : againMs * 2;
    return this.#silent.size === 0 ? ASK_EVERY_MS : againMs;
  }

  /** Ignores an answer without a single pair of ours: an engine that is still loading its models would take the service offline. */
  #take({ url, pairs, detail }: ReplicaPairs): void {
    const failure = typeof pairs === 'string' ? pairs : this.#pairsOf([pairs]).length === 0 ? 'no_pair_of_ours' : undefined;
    if (failure === undefined) {
      this.#silent.delete(url);
      this.#reported.set(url, pairs as PairTest);
      return;
    }
    if (!this.#silent.has(url)) this.#warn(url, failure, detail);
    this.#silent.add(url);
  }

  #warn(replica: string, failure: string, detail: FailureDetail | undefined): void {
    const { engine, log, adviceFor } = this.#options;
    const { status, cause } = detail ?? {};
    log.warn('an engine replica did not report its pairs: the known ones are kept', {
      engine,
      replica,
      failure,
      status,
      cause,
      advice: detail && adviceFor(detail),
    });
  }

  /** Leaves `test` unchanged if nothing has changed. */
  #renew(): void {
    const pairs = this.#pairsOf([...this.#reported.values()]);
    const key = pairs.join(' ');
    if (this.#pairs !== 'ask' || pairs.length === 0 || key === this.#logged) return;
    this.#logged = key;
    this.test = this.#made();
    const { engine, log, onChange } = this.#options;
    onChange();
    const shown = pairs.slice(0, LOGGED_PAIRS_MAX).join(' ') + (pairs.length > LOGGED_PAIRS_MAX ? ' …' : '');
    log.info('the pairs that the engine offers have changed', { engine, count: pairs.length, pairs: shown });
  }

  #made(): PairTest | undefined {
    if (this.#pairs === 'any') return undefined;
    if (this.#pairs !== 'ask') return pairsOfList(this.#pairs, this.#table);
    const reported = [...this.#reported.values()];
    // Nothing was reported yet, or nothing that matches the new language list.
    return this.#pairsOf(reported).length === 0 ? undefined : anyOf(reported);
  }

  #pairsOf(reported: readonly PairTest[]): string[] {
    const { sources, targets } = this.#table;
    const offers = anyOf(reported);
    return sources.flatMap(({ code }) => targets.filter((target) => offers(code, target.code)).map((target) => `${code}-${target.code}`));
  }
}

/** A pair is offered if any replica has it, because the second attempt goes to another replica. */
function anyOf(reported: readonly PairTest[]): PairTest {
  return (sourceLang, targetLang) => reported.some((offers) => offers(sourceLang, targetLang));
}

function laterBy(run: () => void, ms: number): () => void {
  const timer = setTimeout(run, ms).unref();
  return () => clearTimeout(timer);
}
