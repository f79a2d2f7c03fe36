// What is currently offered: the operator's language list, restricted by the pairs of each engine and by the routing rules.
import { offersOfOne, offersOfSeveral } from '../domain/engine-offer.ts';
import type { EngineCapabilities } from '../domain/engine-capabilities.ts';
import type { EngineOffers } from '../domain/engine-offer.ts';
import type { RoutingRule } from '../domain/engine-routing.ts';
import type { LanguageTable } from '../domain/languages.ts';
import { EnginePairs } from './engine-pairs.ts';
import type { EnginePairsOptions, PairsMode } from './engine-pairs.ts';

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
  /** There is a single engine without a name of its own. */
  readonly isOne: boolean;
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
    const { engines: all, isOne } = this.#options;
    const engines = [...pairs.keys()].map((name) => ({
      name,
      can: all.find((engine) => engine.name === name)!.can,
      pairs: this.#pairs.get(name)!.test,
    }));
    return isOne && rules === undefined ? offersOfOne(table, engines[0]!) : offersOfSeveral(table, engines, rules);
  }
}
