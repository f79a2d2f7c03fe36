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
type PairsMode = 'any' | 'ask' | readonly string[];

const ASK_EVERY_MS = 600_000;
/** A replica without an answer, perhaps starting, is asked sooner. The delay doubles. */
const ASK_AGAIN_MS = 5000;
/** The longest delay while no replica has answered at all. */
const ASK_NOBODY_MS = 60_000;
const LOGGED_PAIRS_MAX = 50;

/** What is known of a replica. */
interface ReportedPairs {
  /** Its last valid answer. */
  readonly pairs: PairTest | undefined;
  /** Whether it gave none to the last query. */
  readonly isSilent: boolean;
}

class EnginePairs {
  /** `undefined` means every pair. */
  test: PairTest | undefined;
  readonly #engine: OfferedSource;
  readonly #config: () => OfferedByConfig;
  /** Called when the replicas offer different pairs than before. */
  readonly #onChange: () => void;
  readonly #options: OfferedLanguagesOptions;
  /** By URL. */
  #replicas: ReadonlyMap<string, ReportedPairs> = new Map();
  /** The reported pairs as last logged. */
  #logged = '';
  #againMs = ASK_AGAIN_MS;
  /** Numbers the queries: only the answer to the latest one counts. */
  #asked = 0;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

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
    clearTimeout(this.#timer);
    // An earlier query may still be in flight, possibly to different replicas.
    const question = ++this.#asked;
    void ask().then((answers) => question === this.#asked && this.#answered(answers));
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #answered(answers: readonly ReplicaPairs[]): void {
    if (this.#closed) return;
    this.#replicas = new Map(answers.map((answer) => [answer.url, this.#replicaOf(answer)]));
    this.#noteChange();
    this.#timer = setTimeout(() => this.ask(), this.#pauseMs()).unref();
  }

  /** Without a pair of ours an answer counts for nothing: the engine may still be loading its models. */
  #replicaOf({ url, pairs }: ReplicaPairs): ReportedPairs {
    const known = this.#replicas.get(url);
    const detail = typeof pairs === 'function' ? undefined : pairs;
    if (typeof pairs === 'function' && this.#pairsOf(pairs).length > 0) return { pairs, isSilent: false };
    if (known?.isSilent !== true) {
      const { log, adviceFor } = this.#options;
      log.warn('an engine replica did not report its pairs: the known ones stay in use', {
        engine: this.#engine.name,
        replica: url,
        failure: detail?.failure ?? 'no_pair_of_ours',
        status: detail?.status,
        cause: detail?.cause,
        advice: detail && adviceFor(detail),
      });
    }
    return { pairs: known?.pairs, isSilent: true };
  }

  #pauseMs(): number {
    const replicas = [...this.#replicas.values()];
    const againMs = Math.min(this.#againMs, replicas.every(({ pairs }) => pairs === undefined) ? ASK_NOBODY_MS : ASK_EVERY_MS);
    const isSilent = replicas.some((replica) => replica.isSilent);
    this.#againMs = isSilent ? againMs * 2 : ASK_AGAIN_MS;
    return isSilent ? againMs : ASK_EVERY_MS;
  }

  /** Leaves `test` unchanged if nothing has changed. */
  #noteChange(): void {
    const pairs = this.#pairsOf(this.#reported);
    const key = pairs.join(' ');
    if (this.#mode !== 'ask' || key === '' || key === this.#logged) return;
    this.#logged = key;
    this.test = this.#reported;
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
    if (mode !== 'ask') return mode === 'any' ? undefined : pairsOfList(mode, this.#config().table);
    // Nothing was reported yet, or nothing that matches the new language list.
    return this.#pairsOf(this.#reported).length === 0 ? undefined : this.#reported;
  }

  /** A pair is offered if any replica has it, because the second attempt goes to another replica. */
  get #reported(): PairTest {
    const tests = [...this.#replicas.values()].map(({ pairs }) => pairs);
    return (sourceLang, targetLang) => tests.some((offers) => offers?.(sourceLang, targetLang) === true);
  }

  /** Those of our list. */
  #pairsOf(offers: PairTest): string[] {
    const { sources, targets } = this.#config().table;
    return sources.flatMap(({ code }) => targets.filter((target) => offers(code, target.code)).map((target) => `${code}-${target.code}`));
  }
}
