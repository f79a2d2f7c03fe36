// What is currently offered: the operator's language list, restricted by the pairs of each engine
// (all, listed, or reported by its replicas, which are asked periodically) and by the routing
// rules.
import { offersOf } from '../domain/engine-offer.ts';
import type { EngineCapabilities } from '../domain/translation-options.ts';
import type { EngineOffers } from '../domain/engine-offer.ts';
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

interface OfferedLanguagesOptions {
  readonly config: OfferedByConfig;
  readonly engines: readonly OfferedSource[];
  readonly log: Log;
  /** What an operator should do about a failure. */
  readonly adviceFor: (failure: FailureDetail) => string;
  /** Schedules a callback and returns a function that cancels it; replaced in tests. */
  readonly later?: ((run: () => void, ms: number) => () => void) | undefined;
}

interface OfferedSource {
  readonly name: string;
  readonly can: EngineCapabilities;
  /** Asks every replica; never rejects. `undefined` if the engine has no list: `ask` is `any`. */
  readonly ask: (() => Promise<readonly ReplicaPairs[]>) | undefined;
}

export class OfferedLanguages {
  /** Replaced by each change, so that derived data is invalidated by its identity. */
  current: EngineOffers;
  readonly #options: OfferedLanguagesOptions;
  readonly #pairs: ReadonlyMap<string, EnginePairs>;
  #config: OfferedByConfig;

  constructor(options: OfferedLanguagesOptions) {
    this.#options = options;
    this.#config = options.config;
    const config = (): OfferedByConfig => this.#config;
    const onChange = (): void => void (this.current = this.#made());
    this.#pairs = new Map(options.engines.map((engine) => [engine.name, new EnginePairs(engine, config, onChange, options)]));
    this.current = this.#made();
  }

  /** Of the same engines; those that can report pairs are asked again. */
  replace(config: OfferedByConfig): void {
    this.#config = config;
    for (const pairs of this.#pairs.values()) pairs.renew();
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

/** `any`: every pair of the list. `ask`: the engine's. Otherwise an explicit list. */
export type PairsMode = 'any' | 'ask' | readonly string[];

const ASK_EVERY_MS = 600_000;
/** A replica without an answer, perhaps starting, is asked sooner. The delay doubles. */
const ASK_AGAIN_MS = 5000;
/** The longest delay while no replica has answered at all. */
const ASK_NOBODY_MS = 60_000;
const LOGGED_PAIRS_MAX = 50;

class EnginePairs {
  /** `undefined` means every pair. */
  test: PairTest | undefined;
  readonly #engine: OfferedSource;
  readonly #config: () => OfferedByConfig;
  /** Called when the replicas offer different pairs than before. */
  readonly #onChange: () => void;
  readonly #options: OfferedLanguagesOptions;
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

  constructor(engine: OfferedSource, config: () => OfferedByConfig, onChange: () => void, options: OfferedLanguagesOptions) {
    this.#engine = engine;
    this.#config = config;
    this.#onChange = onChange;
    this.#options = options;
    this.renew();
  }

  get #mode(): PairsMode {
    return this.#config().pairs.get(this.#engine.name)!;
  }

  /** Applies the configuration as it is now, and queries the engine again. */
  renew(): void {
    this.test = this.#made();
    this.ask();
  }

  /** Queries all replicas if configured to. Runs in the background. */
  ask(): void {
    const { ask } = this.#engine;
    if (this.#mode !== 'ask' || ask === undefined || this.#closed) return;
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
    this.#noteChange();
    this.#callOff = (this.#options.later ?? laterBy)(() => this.ask(), this.#pauseMs());
  }

  #pauseMs(): number {
    const againMs = Math.min(this.#againMs, this.#reported.size === 0 ? ASK_NOBODY_MS : ASK_EVERY_MS);
    this.#againMs = this.#silent.size === 0 ? ASK_AGAIN_MS : againMs * 2;
    return this.#silent.size === 0 ? ASK_EVERY_MS : againMs;
  }

  /** Without a pair of ours it counts for nothing: the engine may still be loading its models. */
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
    const { log, adviceFor } = this.#options;
    const { status, cause } = detail ?? {};
    log.warn('an engine replica did not report its pairs: the known ones stay in use', {
      engine: this.#engine.name,
      replica,
      failure,
      status,
      cause,
      advice: detail && adviceFor(detail),
    });
  }

  /** Leaves `test` unchanged if nothing has changed. */
  #noteChange(): void {
    const pairs = this.#pairsOf([...this.#reported.values()]);
    const key = pairs.join(' ');
    if (this.#mode !== 'ask' || pairs.length === 0 || key === this.#logged) return;
    this.#logged = key;
    this.test = this.#made();
    this.#onChange();
    const shown = pairs.slice(0, LOGGED_PAIRS_MAX).join(' ') + (pairs.length > LOGGED_PAIRS_MAX ? ' …' : '');
    this.#options.log.info('the pairs that the engine offers have changed', {
      engine: this.#engine.name,
      count: pairs.length,
      pairs: shown,
    });
  }

  #made(): PairTest | undefined {
    const mode = this.#mode;
    if (mode === 'any') return undefined;
    if (mode !== 'ask') return pairsOfList(mode, this.#config().table);
    const reported = [...this.#reported.values()];
    // Nothing was reported yet, or nothing that matches the new language list.
    return this.#pairsOf(reported).length === 0 ? undefined : anyOf(reported);
  }

  #pairsOf(reported: readonly PairTest[]): string[] {
    const { sources, targets } = this.#config().table;
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
